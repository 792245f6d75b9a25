// The ratios as a table, and the results as a file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apps/bench/statistics.hpp"
#include "apps/tutti/plot_views.hpp"

namespace tutti::tool {
namespace {

using apps::Json;

/// The rows in this order, and others behind them.
constexpr std::string_view order[] = {"allreduce", "barrier",  "broadcast", "reduce",  "reduce_scatter", "allgather",
                                      "gather",    "scatter",  "alltoall",  "scan",    "exscan",         "allgatherv",
                                      "gatherv",   "scatterv", "alltoallv", "sendrecv"};
constexpr std::string_view nothing = "–";

struct Column {
  std::string peer;
  int ranks = 0;
  bool operator==(const Column&) const = default;
};

std::vector<Column> columns_of(const Plotted& plotted, const PlotSettings& settings) {
  std::vector<std::string> peers;
  std::set<int> ranks;
  std::vector<Column> found;
  const auto add = [&](const std::string& peer, int its_ranks) {
    if (!settings.ranks.empty() && std::ranges::find(settings.ranks, its_ranks) == settings.ranks.end()) return;
    if (std::ranges::find(peers, peer) == peers.end()) peers.push_back(peer);
    ranks.insert(its_ranks);
    found.push_back({peer, its_ranks});
  };
  for (const PlottedCall& call : plotted.calls)
    if (call.peer) add(call.peer->name, call.ranks);
  for (const PlottedMean& mean : plotted.means)
    add(mean.peer, mean.ranks);
  std::vector<Column> columns;
  for (const std::string& peer : peers)
    for (const int number : ranks)
      if (const Column column{peer, number}; std::ranges::find(found, column) != found.end()) columns.push_back(column);
  return columns;
}

/// "1.98 / 1.08 (8 B)"; the size only where there are several.
std::string cell_text(double mean, std::optional<double> least, std::optional<std::int64_t> bytes) {
  std::string text = fmt::format("{:.2f} / ", mean);
  text += least ? fmt::format("{:.2f}", *least) : nothing;
  return bytes ? text + fmt::format(" ({})", size_name(static_cast<double>(*bytes))) : text;
}

std::string cell_of(const Plotted& plotted, const PlotSettings& settings, std::string_view collective,
                    const Column& column) {
  std::vector<double> ratios;
  const PlottedCall* least = nullptr;
  std::size_t doubtful = 0;
  const bool has_both = std::ranges::any_of(plotted.calls, [&](const PlottedCall& call) {
    return call.collective == collective && call.in_place == settings.in_place;
  });
  for (const PlottedCall& call : plotted.calls) {
    if (call.collective != collective || !call.peer || Column{call.peer->name, call.ranks} != column) continue;
    if (has_both && call.in_place != settings.in_place) continue;
    ratios.push_back(call.peer->ratio);
    if (!call.peer->is_resolved)
      ++doubtful;
    else if (least == nullptr || call.peer->ratio < least->peer->ratio)
      least = &call;
  }
  if (!ratios.empty()) {
    std::string text =
        cell_text(*bench::geometric_mean(ratios), least ? std::optional{least->peer->ratio} : std::nullopt,
                  least != nullptr && ratios.size() > 1 ? std::optional{least->bytes} : std::nullopt);
    return doubtful == 0 ? text : text + fmt::format(", {} of {} not resolved", doubtful, ratios.size());
  }
  for (const PlottedMean& mean : plotted.means)
    if (mean.collective == collective && Column{mean.peer, mean.ranks} == column)
      return cell_text(mean.mean, mean.least, mean.least_bytes);
  return std::string{nothing};
}

std::vector<std::string> rows_of(const Plotted& plotted) {
  std::vector<std::string> names(std::begin(order), std::end(order)), found;
  const auto add = [](std::vector<std::string>& to, const std::string& name) {
    if (std::ranges::find(to, name) == to.end()) to.push_back(name);
  };
  for (const PlottedCall& call : plotted.calls)
    add(names, call.collective), add(found, call.collective);
  for (const PlottedMean& mean : plotted.means)
    add(names, mean.collective), add(found, mean.collective);
  std::erase_if(names, [&](const std::string& name) { return std::ranges::find(found, name) == found.end(); });
  return names;
}

Json json_of(const PlottedTime& time) {
  Json json{{"median", time.median}};
  if (time.p10) json.set("p10", *time.p10);
  if (time.p90) json.set("p90", *time.p90);
  return json;
}

Json json_of(const PlottedCall& call) {
  Json json{{"collective", call.collective},
            {"ranks", call.ranks},
            {"in_place", call.in_place},
            {"bytes", call.bytes},
            {"wrong", call.wrong},
            {"time_us", json_of(call.time)},
            {"peer", nullptr}};
  if (!call.peer) return json;
  Json peer{{"name", call.peer->name}, {"time_us", json_of(call.peer->time)}, {"ratio", call.peer->ratio}};
  if (call.peer->lower && call.peer->upper)
    peer.set("ratio_middle_half", std::vector{*call.peer->lower, *call.peer->upper});
  peer.set("resolved", call.peer->is_resolved);
  json.set("peer", std::move(peer));
  return json;
}

}  // namespace

std::string ratio_table(const Plotted& plotted, const PlotSettings& settings) {
  const std::vector<Column> columns = columns_of(plotted, settings);
  std::string text = "| collective |", rule = "|---|";
  std::string before;
  for (const Column& column : columns) {
    text += column.peer == before ? fmt::format(" p = {} |", column.ranks)
                                  : fmt::format(" {}, p = {} |", column.peer, column.ranks);
    rule += "---|";
    before = column.peer;
  }
  text += '\n' + rule + '\n';
  for (const std::string& collective : rows_of(plotted)) {
    std::vector<std::string> cells;
    cells.reserve(columns.size());
    for (const Column& column : columns)
      cells.push_back(cell_of(plotted, settings, collective, column));
    if (std::ranges::all_of(cells, [](const std::string& cell) { return cell == nothing; })) continue;
    text += fmt::format("| {} | {} |\n", collective, fmt::join(cells, " | "));
  }
  return text;
}

std::string results_text(const Plotted& plotted) {
  const PlottedMachine& machine = plotted.machine;
  const Json environment{{"versions", {{"Tutti", machine.tutti}}},
                         {"mpi_version", machine.mpi_version},
                         {"cores", machine.cores},
                         {"started", machine.started},
                         {"commands", machine.commands}};
  std::vector<std::string> lines;
  for (const PlottedCall& call : plotted.calls)
    lines.push_back("  " + json_of(call).text(-1));
  return fmt::format("{{\"environment\": {},\n \"results\": [\n{}\n]}}\n", environment.text(1),
                     fmt::join(lines, ",\n"));
}

}  // namespace tutti::tool
