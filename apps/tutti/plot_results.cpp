#include "apps/tutti/plot_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include "apps/bench/statistics.hpp"
#include "apps/options.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;
using apps::Json;

/// Four digits, so that a file of results is short, and the same when it is drawn again.
double rounded(double value, int digits = 4) { return std::stod(fmt::format("{:.{}g}", value, digits)); }

std::string text_or(const Json& json, std::string_view name, std::string_view otherwise) {
  const auto found = json.find(name);
  return found ? found->as_text() : std::string{otherwise};
}

std::optional<double> number_in(const Json& json, std::string_view name) {
  const auto found = json.find(name);
  return found ? std::optional{found->as_number()} : std::nullopt;
}

std::vector<double> numbers_in(const Json& json, std::string_view name) {
  std::vector<double> numbers;
  const auto found = json.find(name);
  if (!found) return numbers;
  for (const Json& each : found->items())
    numbers.push_back(each.as_number());
  return numbers;
}

/// A result, and the facts that tell calls of the same kind from others.
struct Found {
  std::string path, collective, peer, way;
  int ranks;
  bool in_place;
  std::int64_t bytes;
  Json json;
  auto key() const { return std::tuple(collective, ranks, in_place, bytes, peer); }
};

std::string way_of(const Json& result) {
  std::vector<std::string> words;
  for (const std::string_view name : {"mode", "memory", "transport", "type", "op"})
    if (const std::string word = text_or(result, name, "none"); word != "none") words.push_back(word);
  if (const auto list = result.find("list")) words.push_back(fmt::format("in lists of {}", list->as_int()));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Whether the results of two files may stand in one plot: the facts that both have are the same.
std::string why_not_together(const Json& first, const Json& other) {
  for (const std::string_view name : {"mpi_version", "host"}) {
    const std::string one = text_or(first, name, ""), two = text_or(other, name, "");
    if (!one.empty() && !two.empty() && one != two) return fmt::format("its {} is '{}', not '{}'", name, two, one);
  }
  const auto one = first.find("cores"), two = other.find("cores");
  if (one && two && one->as_int() != two->as_int())
    return fmt::format("its machine has {} hardware threads, not {}", two->as_int(), one->as_int());
  const std::string tutti = text_or(first.at("versions"), "Tutti", ""),
                    its = text_or(other.at("versions"), "Tutti", "");
  return tutti == its ? "" : fmt::format("it is of Tutti {}, not {}", its, tutti);
}

/// Plots of times are logarithmic.
double median_in(const Json& result) {
  const double median = result.at("time_us").at("median").as_number();
  if (!(median > 0) || !std::isfinite(median)) throw apps::JsonError("'time_us' has a median that is no time");
  return median;
}

class Reading {
 public:
  Plotted read(const std::vector<BenchFile>& files);

 private:
  void add_facts(const Json& environment);
  void add_results(const BenchFile& file);
  void leave_out(std::string sentence) { plotted_.left_out.push_back(std::move(sentence)); }
  /// Why a result is not drawn; empty: it is.
  std::string why_not(const Found& found);
  static PlottedCall merged(const std::vector<Found>& found);
  static PlottedPeer merged_peer(const std::vector<Found>& found, double time);
  void tell_doubts();

  Plotted plotted_;
  std::optional<Json> machine_;
  std::string way_;
  std::map<std::string, int> reasons_;  ///< How many results were left out for each.
  std::vector<std::vector<Found>> calls_;
};

void Reading::add_facts(const Json& environment) {
  PlottedMachine& machine = plotted_.machine;
  if (!machine_) {
    machine_ = environment;
    machine = {.tutti = text_or(environment.at("versions"), "Tutti", ""),
               .mpi_version = text_or(environment, "mpi_version", ""),
               .started = environment.at("started").as_text(),
               .cores = environment.at("cores").as_int(),
               .commands = {}};
  }
  machine.started = std::min(machine.started, environment.at("started").as_text());
  std::vector<std::string> commands;
  if (const auto command = environment.find("command")) commands.push_back(command->as_text());
  if (const auto all = environment.find("commands"))
    for (const Json& each : all->items())
      commands.push_back(each.as_text());
  for (std::string& command : commands) {
    if (const auto at = command.find(" --json "); at != std::string::npos)
      command.erase(at, command.find(' ', at + 8) - at);
    if (std::ranges::find(machine.commands, command) == machine.commands.end())
      machine.commands.push_back(std::move(command));
  }
}

std::string Reading::why_not(const Found& found) {
  const auto flag = [&](std::string_view name, bool otherwise) {
    const auto given = found.json.find(name);
    return given ? given->as_bool() : otherwise;
  };
  if (const auto wrong = found.json.find("wrong"); wrong && wrong->as_number() > 0) return "they are wrong";
  if (text_or(found.json, "algorithm", "") == "mpi") return "they are calls of the MPI alone";
  if (!flag("auto", true) && !flag("chosen", false)) return "they are of algorithms that Tutti does not choose there";
  // A barrier has no type, and no operation.
  const bool is_same = found.way.empty() || way_.starts_with(found.way) || found.way.starts_with(way_);
  if (is_same && found.way.size() > way_.size()) way_ = found.way;
  return is_same ? "" : fmt::format("they are of '{}' calls, others of '{}'", found.way, way_);
}

void Reading::add_results(const BenchFile& file) {
  for (const Json& result : file.content.at("results").items()) {
    const auto peer = result.find("peer");
    Found found{.path = file.path,
                .collective = result.at("collective").as_text(),
                .peer = peer ? peer->at("name").as_text() : "",
                .way = way_of(result),
                .ranks = result.at("ranks").as_int(),
                .in_place = result.at("in_place").as_bool(),
                .bytes = static_cast<std::int64_t>(result.at("bytes").as_number()),
                .json = result};
    if (const std::string reason = why_not(found); !reason.empty()) {
      ++reasons_[fmt::format("of '{}': {}", file.path, reason)];
      continue;
    }
    const auto same = std::ranges::find_if(calls_, [&](const auto& each) { return each.front().key() == found.key(); });
    if (same == calls_.end())
      calls_.push_back({std::move(found)});
    else if (same->back().path != file.path)  // else the same algorithm, chosen and by its name
      same->push_back(std::move(found));
  }
}

PlottedPeer Reading::merged_peer(const std::vector<Found>& found, double time) {
  std::vector<double> medians, ours, theirs;
  bool has_rounds = true, is_resolved = true;
  for (const Found& each : found) {
    const Json peer = each.json.at("peer");
    medians.push_back(median_in(peer));
    const std::vector<double> first = numbers_in(each.json, "rounds_us"), second = numbers_in(peer, "rounds_us");
    has_rounds = has_rounds && !first.empty() && first.size() == second.size();
    ours.insert(ours.end(), first.begin(), first.end());
    theirs.insert(theirs.end(), second.begin(), second.end());
    const auto resolved = peer.find("resolved");
    is_resolved = is_resolved && (!resolved || resolved->as_bool());
  }
  PlottedPeer peer{.name = found.front().peer, .time = {.median = rounded(bench::spread_of(medians).median)}};
  const Json only = found.front().json.at("peer");
  peer.ratio = found.size() == 1 ? number_in(only, "ratio").value_or(peer.time.median / time) : peer.time.median / time;
  peer.is_resolved = is_resolved;
  std::vector<double> half = numbers_in(only, "ratio_middle_half");
  if (found.size() > 1) half.clear();
  if (has_rounds && found.size() > 1) {
    const bench::Ratio all = bench::ratio_of(ours, theirs);
    half = {all.lower, all.upper};
    peer.is_resolved = all.is_resolved();
  }
  if (half.size() == 2) peer.lower = rounded(half[0]), peer.upper = rounded(half[1]);
  constexpr int many = 8;  // so that a second rounding, to two decimals, does not show
  peer.ratio = rounded(peer.ratio, many);
  return peer;
}

PlottedCall Reading::merged(const std::vector<Found>& found) {
  const Found& first = found.front();
  PlottedCall call{
      .collective = first.collective, .ranks = first.ranks, .in_place = first.in_place, .bytes = first.bytes};
  std::vector<double> medians;
  call.wrong = 0;
  for (const Found& each : found) {
    medians.push_back(median_in(each.json));
    if (!each.json.find("wrong")) call.wrong.reset();
  }
  call.time.median = rounded(bench::spread_of(medians).median);
  if (found.size() == 1) {
    const Json times = first.json.at("time_us");
    if (const auto p10 = number_in(times, "p10")) call.time.p10 = rounded(*p10);
    if (const auto p90 = number_in(times, "p90")) call.time.p90 = rounded(*p90);
  }
  if (!first.peer.empty()) call.peer = merged_peer(found, call.time.median);
  return call;
}

void Reading::tell_doubts() {
  const auto number = std::ranges::count_if(
      plotted_.calls, [](const PlottedCall& call) { return call.peer && !call.peer->is_resolved; });
  const auto all = std::ranges::count_if(plotted_.calls, [](const PlottedCall& call) { return call.peer.has_value(); });
  if (number > 0)
    leave_out(
        fmt::format("{} of {} ratios are not resolved: plots show them hollow, and the least ratios of the table "
                    "are without them",
                    number, all));
}

Plotted Reading::read(const std::vector<BenchFile>& files) {
  for (const BenchFile& file : files) {
    try {
      const Json environment = file.content.at("environment");
      if (file.content.find("ratios")) {
        std::ranges::move(means_in(file), std::back_inserter(plotted_.means));
        continue;
      }
      if (const std::string why = machine_ ? why_not_together(*machine_, environment) : ""; !why.empty()) {
        leave_out(fmt::format("'{}' is left out: {}", file.path, why));
        continue;
      }
      const bool has_pairs = file.content.find("pairs").has_value();
      if (!has_pairs || !machine_) add_facts(environment);
      if (has_pairs)
        std::ranges::move(links_in(file), std::back_inserter(plotted_.links));
      else
        add_results(file);
    } catch (const apps::JsonError& error) {
      throw InputError(fmt::format("'{}' is no file of tutti-bench --json: {}", file.path, error.what()));
    }
  }
  for (const auto& [reason, number] : reasons_)
    leave_out(fmt::format("{} result{} {}", number, number == 1 ? "" : "s", reason));
  for (const auto& found : calls_)
    plotted_.calls.push_back(merged(found));
  std::ranges::stable_sort(plotted_.calls, {}, [](const PlottedCall& call) {
    return std::tuple(call.collective, call.ranks, call.in_place, call.bytes);
  });
  tell_doubts();
  return std::move(plotted_);
}

}  // namespace

bool PlottedMachine::is_touched() const {
  return std::ranges::all_of(commands,
                             [](const std::string& each) { return each.find("--touch") != std::string::npos; });
}

std::vector<std::string> Plotted::collectives() const {
  std::vector<std::string> names;
  for (const PlottedCall& call : calls)
    if (names.empty() || names.back() != call.collective) names.push_back(call.collective);
  return names;
}

std::vector<int> Plotted::ranks() const {
  std::set<int> found;
  for (const PlottedCall& call : calls)
    found.insert(call.ranks);
  return {found.begin(), found.end()};
}

Plotted plotted(const std::vector<BenchFile>& files) { return Reading{}.read(files); }

}  // namespace tutti::tool
