// tutti ps: the ranks on this node that use Tutti, and their calls.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/ps_survey.hpp"
#include "lib/watch/records/recorder.hpp"

namespace tutti::tool {
namespace {

struct Wanted {
  std::optional<pid_t> pid{};
  bool json = false, watch = false;
  int calls = 1;
  double seconds = 1;
};

apps::Options options_for(Wanted& wanted) {
  apps::Options options{
      "tutti ps",
      "Shows the ranks on this node that use Tutti, with their current or last calls: all of this user's, or the job\n"
      "of one process. It stops nothing, and works on a job that hangs (docs/diagnosis.md).\n"
      "    tutti ps                    all jobs\n"
      "    tutti ps 4711 --watch       the job of process 4711, again each second"};
  options
      .argument("PID", apps::Options::Takes::one_or_none,
                [&wanted](std::string_view text) {
                  constexpr std::int64_t most = 1 << 22;  // of Linux
                  wanted.pid = static_cast<pid_t>(apps::parse_integer(text, 1, most));
                })
      .integer("calls", wanted.calls, 1, records::kept, "calls of each rank, the latest first")
      .flag("json", wanted.json, "for programs: docs/diagnosis.md describes it")
      .flag("watch", wanted.watch, "again and again, until no rank is left")
      .number("interval", wanted.seconds, 0.1, 3600, "seconds between two looks of --watch");
  return options;
}

PsSurvey look(const Wanted& wanted) {
  PsSurvey survey = survey_processes(wanted.calls);
  if (!wanted.pid) return survey;
  std::erase_if(survey.jobs, [&](const PsJob& job) { return !job.has(*wanted.pid); });
  return survey;
}

/// How to say that the process is not among them.
[[noreturn]] void refuse_pid(pid_t pid) {
  if (records::process_of(pid).life == records::Life::dead)
    throw apps::InputError(fmt::format("PID: {} is no process of this node", pid));
  throw apps::InputError(
      fmt::format("PID: {} uses no communicator of Tutti, or the system does not let this user look at it", pid));
}

void show(const PsSurvey& survey, const Wanted& wanted) {
  constexpr std::string_view clear_screen = "\033[H\033[2J";
  const std::int64_t now = records::coarse_now();
  if (wanted.watch && !wanted.json && ::isatty(STDOUT_FILENO) != 0) apps::print(clear_screen);
  apps::print(wanted.json ? to_json(survey, now) : to_text(survey, now));
  apps::flush_output();
}

}  // namespace

int ps(const Arguments& arguments) {
  Wanted wanted;
  apps::Options options = options_for(wanted);
  if (is_told(options, arguments)) return apps::exit_success;
  PsSurvey survey = look(wanted);
  if (wanted.pid && survey.jobs.empty()) refuse_pid(*wanted.pid);
  show(survey, wanted);
  while (wanted.watch && !survey.jobs.empty()) {
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted.seconds));
    survey = look(wanted);
    show(survey, wanted);
  }
  return apps::exit_success;
}

}  // namespace tutti::tool
