#include "lib/watch/records/process_state.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace tutti::records {
namespace {

/// The fields of /proc/PID/stat behind the name, which may hold anything: "R", "1", ... Empty: there is no such
/// process.
std::vector<std::string> fields_of(pid_t pid) {
  std::string line;
  std::getline(std::ifstream{fmt::format("/proc/{}/stat", pid)}, line);
  const std::size_t behind_name = line.rfind(')');
  if (behind_name == std::string::npos) return {};
  std::istringstream rest{line.substr(behind_name + 1)};
  std::vector<std::string> fields;
  for (std::string field; rest >> field;)
    fields.push_back(field);
  return fields;
}

Life life_of(char state) {
  switch (state) {
    case 'R':
      return Life::running;
    case 'T':
    case 't':
      return Life::stopped;
    case 'Z':
    case 'X':
    case 'x':
      return Life::dead;
    default:
      return Life::asleep;
  }
}

std::uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }

}  // namespace

/// Fields by their places in proc(5), from 3 on: state 3, utime 14, stime 15, starttime 22, exit_code 52.
Process process_of(pid_t pid, std::uint64_t started) {
  constexpr std::size_t first = 3, utime = 14 - first, stime = 15 - first, starttime = 22 - first, code = 52 - first;
  const std::vector<std::string> fields = fields_of(pid);
  if (fields.size() <= starttime) return {.life = fields.empty() ? Life::dead : Life::unknown};
  Process process{.life = life_of(fields[0][0]),
                  .started = number(fields[starttime]),
                  .processor_ticks = number(fields[utime]) + number(fields[stime])};
  if (started != 0 && process.started != started) return {.life = Life::dead};
  if (process.life == Life::dead && fields.size() > code) {
    const auto status = static_cast<int>(number(fields[code]));
    if (WIFSIGNALED(status)) process.signal = WTERMSIG(status);
  }
  return process;
}

std::string signal_in_words(int signal) {
  const char* const name = ::sigabbrev_np(signal);
  return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("signal {} (SIG{})", signal, name);
}

}  // namespace tutti::records
