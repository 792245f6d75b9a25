#include "apps/tutti/ps_survey.hpp"

#include <fmt/format.h>

#include "apps/json.hpp"
#include "apps/tutti/table.hpp"
#include "lib/watch/records/text.hpp"

namespace tutti::tool {
namespace {

using apps::Json;
using records::Entry;
using records::Life;
using records::State;

std::string life_in_words(const records::Process& process) {
  switch (process.life) {
    case Life::running:
      return "running";
    case Life::asleep:
      return "asleep";
    case Life::stopped:
      return "stopped";
    case Life::dead:
      return process.signal == 0 ? "dead" : fmt::format("dead, {}", records::signal_in_words(process.signal));
    case Life::unknown:
      break;
  }
  return "unknown";
}

/// "inside". A call in a stream is over for its rank when the stream has it; how far it is there, the host does not
/// know.
std::string place_in_words(const Entry& call) {
  if (call.call.manner == records::Manner::in_stream && call.state == records::State::over) return "in its stream";
  return records::to_string(call.state);
}

/// "waits at step 3 for a message from rank 5 of its communicator".
std::string wait_in_words(const Entry& call) {
  if (call.state != State::inside) return "";
  return records::in_words(call.wait);
}

Cells row_of(const PsRank& rank, const Entry& call, bool is_first, std::int64_t now) {
  const std::string began = records::duration_in_words(call.age(now));
  Cells cells{"",
              "",
              "",
              place_in_words(call),
              records::in_words(call.call),
              records::communicator_in_words(call.call),
              began,
              wait_in_words(call)};
  if (!is_first) return cells;
  cells[0] = std::to_string(rank.identity.rank);
  cells[1] = rank.pid == 0 ? "gone" : std::to_string(rank.pid);
  cells[2] = life_in_words(rank.process);
  return cells;
}

std::string heading_of(const PsJob& job) {
  const records::Identity& first = job.ranks.front().identity;
  return fmt::format("{}: {} of {} ranks, on {}\n", first.program.data(), job.ranks.size(), first.ranks,
                     first.host.data());
}

std::string to_text(const PsJob& job, std::int64_t now) {
  std::vector<Cells> rows{{"rank", "pid", "process", "call is", "call", "on", "began ago", "waiting"}};
  for (const PsRank& rank : job.ranks) {
    if (rank.calls.empty())
      rows.push_back({std::to_string(rank.identity.rank), std::to_string(rank.pid), life_in_words(rank.process), "",
                      "none yet", "", "", ""});
    for (const Entry& call : rank.calls)
      rows.push_back(row_of(rank, call, &call == &rank.calls.front(), now));
  }
  return heading_of(job) + aligned(rows, "  ");
}

/// null: it has no name yet.
Json communicator_of(const records::Signature& call) {
  if (call.action == records::Action::make_communicator) return nullptr;
  return {{"context", call.communicator.context()},
          {"id", call.communicator.value},
          {"rank", call.rank},
          {"ranks", call.ranks}};
}

Json to_json(const Entry& call, std::int64_t now) {
  constexpr double second = 1e9;
  const records::Signature& its = call.call;
  return {{"state", records::to_string(call.state)},
          {"call", records::to_string(its.action)},
          {"manner", records::to_string(its.manner)},
          {"text", records::in_words(its)},
          {"count", its.count},
          {"root", its.root},
          {"sequence", its.sequence},
          {"fingerprint", its.fingerprint},
          {"communicator", communicator_of(its)},
          {"began_seconds_ago", static_cast<double>(call.age(now)) / second},
          {"waits", records::in_words(call.wait)},
          {"step", call.wait.step},
          {"peer", call.wait.peer}};
}

}  // namespace

std::string to_text(const PsSurvey& survey, std::int64_t now) {
  std::string text;
  for (const PsJob& job : survey.jobs) {
    if (!text.empty()) text += '\n';
    text += to_text(job, now);
  }
  if (survey.jobs.empty()) text = "No process of this user on this node uses Tutti, as far as can be seen.\n";
  if (survey.unreadable > 0)
    text += fmt::format(
        "{} process{} of this user could not be looked at: the system does not permit it (another container, or a "
        "process that changed its user).\n",
        survey.unreadable, survey.unreadable == 1 ? "" : "es");
  if (survey.other_versions > 0)
    text += fmt::format("{} job{} of another version of Tutti, whose `tutti ps` shows them.\n", survey.other_versions,
                        survey.other_versions == 1 ? " is" : "s are");
  return text;
}

std::string to_json(const PsSurvey& survey, std::int64_t now) {
  Json jobs = Json::array();
  for (const PsJob& job : survey.jobs) {
    Json ranks = Json::array();
    for (const PsRank& rank : job.ranks) {
      Json calls = Json::array();
      for (const Entry& call : rank.calls)
        calls.push_back(to_json(call, now));
      ranks.push_back({{"rank", rank.identity.rank},
                       {"pid", rank.pid},
                       {"process", life_in_words(rank.process)},
                       {"calls", std::move(calls)}});
    }
    const records::Identity& first = job.ranks.front().identity;
    jobs.push_back({{"program", first.program.data()},
                    {"host", first.host.data()},
                    {"world_size", first.ranks},
                    {"ranks", std::move(ranks)}});
  }
  const Json all{
      {"jobs", std::move(jobs)}, {"unreadable", survey.unreadable}, {"other_versions", survey.other_versions}};
  return all.text(2) + '\n';
}

}  // namespace tutti::tool
