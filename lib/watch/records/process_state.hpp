#pragma once
// What the system knows of a process.

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tutti::records {

enum class Life : std::uint8_t {
  unknown,  ///< The system does not tell.
  running,  ///< It runs, or is ready to.
  asleep,
  stopped,  ///< By a signal (SIGSTOP, SIGTSTP), or by a debugger.
  dead,     ///< Gone, or it has ended and nobody has asked for its status.
};

struct Process {
  Life life = Life::unknown;
  std::uint64_t started = 0;          ///< Clock ticks since boot; 0: not known.
  std::uint64_t processor_ticks = 0;  ///< That it has used.
  int signal = 0;                     ///< That ended it; 0: none, or not known.
};
/// A process as /proc has it. `started`: when the one that is meant was; 0: any. Another one of that number: it is
/// dead.
[[nodiscard]] Process process_of(pid_t pid, std::uint64_t started = 0);

/// "killed by signal 9 (SIGKILL)".
[[nodiscard]] std::string signal_in_words(int signal);

}  // namespace tutti::records
