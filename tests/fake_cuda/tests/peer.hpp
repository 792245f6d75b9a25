#pragma once
// Another process with a context of its own, which does what a test asks of it.

#include <cuda.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

namespace fake_cuda {

/// Runs the program peer_program.cpp, until it is destroyed.
class Peer {
 public:
  enum class Task : int { open, wait_for, look, read, close, end };
  struct Question {
    Task task;
    CUipcMemHandle memory{};
    CUipcEventHandle event{};
  };
  struct Answer {
    CUresult result;
    int value;
    std::uint64_t faults;          ///< Caught in that process, ever.
    std::uint64_t bytes_imported;  ///< By its mappings.
    std::uint64_t bytes_in_use;    ///< Of the device, as it sees them.
  };

  explicit Peer(const char* program) {
    int to[2], from[2];
    if (::pipe(to) != 0 || ::pipe(from) != 0) std::abort();
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::dup2(to[0], STDIN_FILENO);
      ::dup2(from[1], STDOUT_FILENO);
      ::execl(program, program, nullptr);
      ::_exit(127);
    }
    ::close(to[0]);
    ::close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    ask({.task = Task::end});
    ::close(to_);
    ::close(from_);
    ::waitpid(process_, nullptr, 0);
  }

  CUresult open(const CUipcMemHandle& memory) { return ask({.task = Task::open, .memory = memory}).result; }
  /// Its stream waits for the event.
  CUresult wait_for(const CUipcEventHandle& event) { return ask({.task = Task::wait_for, .event = event}).result; }
  Answer look() { return ask({.task = Task::look}); }
  /// The first word of the memory, read by its stream.
  Answer read() { return ask({.task = Task::read}); }
  Answer close() { return ask({.task = Task::close}); }
  /// Ends without closing anything.
  void kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

 private:
  Answer ask(const Question& question) {
    Answer answer{CUDA_ERROR_UNKNOWN, 0, 0, 0, 0};
    if (::write(to_, &question, sizeof question) != sizeof question ||
        ::read(from_, &answer, sizeof answer) != sizeof answer)
      answer.result = CUDA_ERROR_UNKNOWN;
    return answer;
  }

  pid_t process_ = 0;
  int to_ = -1, from_ = -1;
};

}  // namespace fake_cuda
