// The summary of a trace, as text and as JSON.
#include "apps/tutti/trace_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "apps/json.hpp"
#include "apps/tutti/table.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {
namespace {

using apps::Json;

constexpr std::size_t most_rows = 16;  // of a table, below its heading

/// The table with its first rows, and how many are left out.
std::string table_of(std::vector<Cells> rows) {
  const std::size_t left_out = rows.size() - std::min(rows.size(), most_rows + 1);
  rows.resize(rows.size() - left_out);
  const std::string more = left_out == 0 ? "" : fmt::format("and {} more: see --json\n", left_out);
  return '\n' + aligned(rows, "") + more;
}

/// "12.3 us"
std::string time_text(double nanoseconds) {
  constexpr std::array<std::pair<double, std::string_view>, 3> units{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}}};
  for (const auto& [size, unit] : units)
    if (std::abs(nanoseconds) >= size) return fmt::format("{:.3g} {}", nanoseconds / size, unit);
  return fmt::format("{:.0f} ns", nanoseconds);
}
std::string time_text(std::int64_t nanoseconds) { return time_text(static_cast<double>(nanoseconds)); }

/// "1,234"
std::string number_text(std::uint64_t number) {
  const std::string digits = fmt::format("{}", number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::uint64_t records_of(const TracedJob& job) {
  std::uint64_t records = 0;
  for (const TraceFile& file : job.files)
    records += file.records;
  return records;
}

std::string heading(const TracedJob& job) {
  std::set<std::string> hosts;
  std::uint64_t dropped = 0;
  for (const TraceFile& file : job.files) {
    hosts.insert(file.host);
    dropped += file.dropped;
  }
  std::string text =
      fmt::format("{} ranks on {} host{}, {} in all; {} records, {} dropped; {} messages", job.files.size(),
                  hosts.size(), hosts.size() == 1 ? "" : "s", time_text(job.last - job.first),
                  number_text(records_of(job)), number_text(dropped), number_text(job.flows.size()));
  if (job.unmatched > 0)
    text += fmt::format(", and {} of which one end alone was recorded", number_text(job.unmatched));
  text += job.clock_count == 1 ? "\nall ranks share one clock\n"
                               : fmt::format("\n{} clocks, which are compared to within {}\n", job.clock_count,
                                             time_text(job.uncertainty));
  for (const std::string& note : job.notes)
    text += fmt::format("note: {}\n", note);
  return text;
}

std::string communicators_text(const TracedJob& job) {
  std::vector<TracedCommunicator> used = job.communicators;
  std::erase_if(used, [](const TracedCommunicator& each) { return each.operations == 0; });
  std::ranges::stable_sort(used, std::greater<>{}, &TracedCommunicator::operations);
  std::vector<Cells> rows{{"communicator", "ranks", "nodes", "collectives"}};
  for (const TracedCommunicator& each : used)
    rows.push_back(
        {each.name, fmt::format("{}", each.size), fmt::format("{}", each.nodes), number_text(each.operations)});
  return table_of(std::move(rows));
}

std::string whom_text(int whom) {
  if (whom == CallFigures::a_device) return "device";
  return whom < 0 ? "unknown rank" : fmt::format("rank {}", whom);
}

/// "rank 3 (40%)"
std::string most_waited_for(const CallFigures& figures) {
  const auto most = std::ranges::max_element(figures.waited_for, {}, [](const auto& each) { return each.second; });
  if (most == figures.waited_for.end() || most->second == 0) return "-";
  return fmt::format("{} ({:.0f}%)", whom_text(most->first), share(most->second, figures.waited));
}

std::string calls_text(const std::vector<CallFigures>& calls, std::size_t ranks) {
  std::vector<Cells> rows{
      {"collective", "algorithm", "calls", "bytes", "total", "median", "max", "waiting", "most for"}};
  for (const CallFigures& each : calls)
    rows.push_back({each.collective, each.algorithm.empty() ? "-" : each.algorithm, number_text(each.calls),
                    number_text(static_cast<std::uint64_t>(each.bytes) / each.rank_calls),
                    time_text(static_cast<double>(each.total) / static_cast<double>(ranks)), time_text(each.median),
                    time_text(each.most), fmt::format("{:.0f}%", share(each.waited, each.total)),
                    most_waited_for(each)});
  std::string text = table_of(std::move(rows));
  for (const CallFigures& each : calls)
    if (each.unfinished + each.failed > 0)
      text += fmt::format("{} {}: {} calls of ranks failed, {} were not over\n", each.collective, each.algorithm,
                          each.failed, each.unfinished);
  return text;
}

std::string slowest_text(const std::vector<SlowCall>& calls) {
  if (calls.empty()) return {};
  std::vector<Cells> rows{
      {"slowest", "communicator", "operation", "algorithm", "bytes", "time", "last in", "behind the first"}};
  for (const SlowCall& each : calls)
    rows.push_back({each.collective, each.communicator, fmt::format("{}", each.operation),
                    each.algorithm.empty() ? "-" : each.algorithm, number_text(static_cast<std::uint64_t>(each.bytes)),
                    time_text(each.time), fmt::format("rank {}", each.last), time_text(each.late)});
  return '\n' + aligned(rows, "");
}

std::string ranks_text(std::vector<RankFigures> ranks) {
  const auto entered = std::ranges::max(ranks, {}, &RankFigures::entered).entered;
  if (entered == 0) return "\nno collective was entered by all of its ranks\n";
  std::ranges::stable_sort(ranks, std::greater<>{}, [](const RankFigures& each) {
    return std::pair{each.last, each.late};
  });
  std::vector<Cells> rows{
      {"rank", "host", "entered", "last", "late, mean", "max", "max/mean", "waited", "others waited"}};
  for (const RankFigures& each : ranks) {
    rows.push_back({fmt::format("{}", each.rank), each.host, number_text(each.entered),
                    fmt::format("{} ({:.0f}%)", number_text(each.last),
                                share(static_cast<std::int64_t>(each.last), static_cast<std::int64_t>(each.entered))),
                    time_text(each.mean_late()), time_text(each.latest), fmt::format("{:.1f}", each.imbalance()),
                    time_text(each.waited), time_text(each.others_waited)});
  }
  return table_of(std::move(rows));
}

Json json_of(const CallFigures& figures) {
  Json waited_for = Json::array();
  for (const auto& [whom, time] : figures.waited_for)
    waited_for.push_back({{"whom", whom_text(whom)}, {"rank", whom < 0 ? Json{} : Json(whom)}, {"ns", time}});
  return {{"collective", figures.collective}, {"algorithm", figures.algorithm}, {"calls", figures.calls},
          {"rank_calls", figures.rank_calls}, {"failed", figures.failed},       {"unfinished", figures.unfinished},
          {"bytes", figures.bytes},           {"total_ns", figures.total},      {"median_ns", figures.median},
          {"max_ns", figures.most},           {"waited_ns", figures.waited},    {"waited_for", std::move(waited_for)}};
}

Json json_of(const SlowCall& call) {
  return {{"collective", call.collective}, {"communicator", call.communicator},
          {"operation", call.operation},   {"algorithm", call.algorithm},
          {"bytes", call.bytes},           {"ns", call.time},
          {"last_rank", call.last},        {"last_behind_ns", call.late}};
}

Json json_of(const RankFigures& figures) {
  return {{"rank", figures.rank},
          {"host", figures.host},
          {"entered", figures.entered},
          {"last", figures.last},
          {"late_mean_ns", figures.mean_late()},
          {"late_max_ns", figures.latest},
          {"imbalance", figures.imbalance()},
          {"waited_ns", figures.waited},
          {"others_waited_ns", figures.others_waited}};
}

}  // namespace

std::string summary_text(const TracedJob& job, std::size_t slowest) {
  return heading(job) + communicators_text(job) + calls_text(call_figures(job), job.files.size()) +
         slowest_text(slowest_calls(job, slowest)) + ranks_text(rank_figures(job));
}

std::string summary_json(const TracedJob& job, std::size_t slowest) {
  constexpr int indent = 1;
  std::uint64_t dropped = 0;
  for (const TraceFile& file : job.files)
    dropped += file.dropped;
  Json json{{"tutti", TUTTI_VERSION},
            {"traced_with", job.files.front().tutti},
            {"ns", job.last - job.first},
            {"records", records_of(job)},
            {"dropped", dropped},
            {"messages", job.flows.size()},
            {"unmatched_ends", job.unmatched},
            {"clocks", job.clock_count},
            {"clocks_within_ns", job.uncertainty},
            {"notes", job.notes}};
  Json communicators = Json::array(), calls = Json::array(), slow = Json::array(), ranks = Json::array();
  for (const TracedCommunicator& each : job.communicators)
    communicators.push_back(
        {{"name", each.name}, {"size", each.size}, {"nodes", each.nodes}, {"collectives", each.operations}});
  for (const CallFigures& each : call_figures(job))
    calls.push_back(json_of(each));
  for (const SlowCall& each : slowest_calls(job, slowest))
    slow.push_back(json_of(each));
  for (const RankFigures& each : rank_figures(job))
    ranks.push_back(json_of(each));
  json.set("communicators", std::move(communicators));
  json.set("calls", std::move(calls));
  json.set("slowest", std::move(slow));
  json.set("ranks", std::move(ranks));
  return json.text(indent);
}

}  // namespace tutti::tool
