#include "apps/tutti/plot_views.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "apps/tutti/plot_chart.hpp"

namespace tutti::tool {
namespace {

/// The side that a series is about.
enum class Side : bool { tutti, peer };

std::string name_of_rank_count(double ranks) { return fmt::format("{:g}", ranks); }

std::string subtitle_of(const Plotted& plotted, const PlotSettings& settings) {
  const PlottedMachine& machine = plotted.machine;
  std::string text = machine.is_touched() ? "inputs rewritten before each call; " : "";
  text += fmt::format("{} cores, {}", machine.cores, machine.started.substr(0, 10));
  return settings.note.empty() ? text : text + ", " + settings.note;
}

bool has(const std::vector<int>& numbers, int number) {
  return numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
}

/// The calls of a chart, as series of Tutti and of the MPIs.
class Charts {
 public:
  Charts(std::string_view collective, const Plotted& plotted, const PlotSettings& settings)
      : collective_(collective), plotted_(plotted), settings_(settings) {
    for (const PlottedCall& call : plotted.calls)
      if (call.collective == collective && (call.in_place == settings.in_place || has_one_placement(call)))
        calls_.push_back(&call);
  }
  [[nodiscard]] std::vector<NamedPlot> all() const;

 private:
  using Calls = std::vector<const PlottedCall*>;
  /// A broadcast is in place always, sendrecv never.
  [[nodiscard]] bool has_one_placement(const PlottedCall& call) const {
    return std::ranges::none_of(plotted_.calls, [&](const PlottedCall& other) {
      return other.collective == call.collective && other.in_place != call.in_place;
    });
  }
  template <class Fits>
  [[nodiscard]] Calls chosen(Fits fits) const {
    Calls found;
    std::ranges::copy_if(calls_, std::back_inserter(found), [&](const PlottedCall* call) { return fits(*call); });
    return found;
  }
  template <class Group, class Point>
  [[nodiscard]] static std::vector<ChartSeries> series(const Calls& calls, Group group, Point point);
  [[nodiscard]] Chart chart(std::string_view what, std::string x_title, std::string y_title, std::string unit) const;
  void add_by_size(std::vector<NamedPlot>& plots) const;
  void add_by_ranks(std::vector<NamedPlot>& plots) const;
  void add_ratios(std::vector<NamedPlot>& plots) const;
  [[nodiscard]] std::vector<std::int64_t> sizes() const;

  std::string collective_;
  const Plotted& plotted_;
  const PlotSettings& settings_;
  Calls calls_;
};

void add_point(std::vector<ChartSeries>& all, const std::string& label, const std::string& group, Side side,
               const ChartPoint& point) {
  auto found = std::ranges::find(all, label, &ChartSeries::label);
  if (found == all.end()) {
    all.push_back({.label = label, .group = group, .is_dashed = side == Side::peer});
    found = all.end() - 1;
  }
  found->points.push_back(point);
}

template <class Group, class Point>
std::vector<ChartSeries> Charts::series(const Calls& calls, Group group, Point point) {
  std::vector<ChartSeries> all;
  for (const PlottedCall* call : calls) {
    const std::string its = group(*call);
    add_point(all, fmt::format("Tutti, {}", its), its, Side::tutti, point(*call, call->time));
    if (call->peer)
      add_point(all, fmt::format("{}, {}", call->peer->name, its), its, Side::peer, point(*call, call->peer->time));
  }
  return all;
}

Chart Charts::chart(std::string_view what, std::string x_title, std::string y_title, std::string unit) const {
  return {.title = fmt::format("{}: {}", collective_, what),
          .subtitle = subtitle_of(plotted_, settings_),
          .x_title = std::move(x_title),
          .y_title = std::move(y_title),
          .unit = std::move(unit),
          .spread_name = "p10 to p90",
          .x_name = size_name};
}

std::string ranks_of(const PlottedCall& call) {
  return fmt::format("{} rank{}", call.ranks, call.ranks == 1 ? "" : "s");
}

void Charts::add_by_size(std::vector<NamedPlot>& plots) const {
  const auto is_shown = [&](const PlottedCall& call) { return call.bytes > 0 && has(settings_.ranks, call.ranks); };
  const Calls brief =
      chosen([&](const PlottedCall& call) { return is_shown(call) && call.bytes <= settings_.switch_bytes; });
  const Calls large =
      chosen([&](const PlottedCall& call) { return is_shown(call) && call.bytes >= settings_.switch_bytes; });
  if (!brief.empty()) {
    Chart latency = chart("time of short messages (lower is better)", "message size", "time of a call, us", "us");
    latency.series = series(brief, ranks_of, [](const PlottedCall& call, const PlottedTime& time) {
      ChartPoint point{static_cast<double>(call.bytes), time.median};
      if (time.p10 && time.p90) point.spread = {*time.p10, *time.p90};
      return point;
    });
    plots.push_back({"latency", svg_of(latency)});
  }
  if (large.empty()) return;
  Chart bandwidth =
      chart("bandwidth of long messages (higher is better)", "message size", "message size over time, GB/s", "GB/s");
  bandwidth.series = series(large, ranks_of, [](const PlottedCall& call, const PlottedTime& time) {
    constexpr double gigabytes_per_s = 1e-3;  // in bytes per microsecond
    const double bytes = static_cast<double>(call.bytes), size = bytes * gigabytes_per_s;
    ChartPoint point{bytes, size / time.median};
    if (time.p10 && time.p90) point.spread = {size / *time.p90, size / *time.p10};
    return point;
  });
  plots.push_back({"bandwidth", svg_of(bandwidth)});
}

std::vector<std::int64_t> Charts::sizes() const {
  if (!settings_.sizes.empty()) return settings_.sizes;
  std::set<std::int64_t> all, some;
  for (const PlottedCall* call : calls_)
    all.insert(call->bytes);
  if (all.empty()) return {};
  some = {*all.begin(), *all.rbegin()};
  if (all.contains(settings_.switch_bytes)) some.insert(settings_.switch_bytes);
  return {some.begin(), some.end()};
}

void Charts::add_by_ranks(std::vector<NamedPlot>& plots) const {
  Calls found;
  std::set<int> ranks;
  for (const std::int64_t size : sizes()) {
    for (const PlottedCall* call : chosen([&](const PlottedCall& each) { return each.bytes == size; })) {
      found.push_back(call);
      ranks.insert(call->ranks);
    }
  }
  if (ranks.size() < 2) return;
  Chart by_ranks = chart("time by number of ranks (lower is better)", "ranks", "time of a call, us", "us");
  by_ranks.x_name = name_of_rank_count;
  by_ranks.border = {plotted_.machine.cores, "more ranks than cores"};
  by_ranks.series = series(
      found, [](const PlottedCall& call) { return size_name(static_cast<double>(call.bytes)); },
      [](const PlottedCall& call, const PlottedTime& time) {
        return ChartPoint{static_cast<double>(call.ranks), time.median};
      });
  plots.push_back({"ranks", svg_of(by_ranks)});
}

void Charts::add_ratios(std::vector<NamedPlot>& plots) const {
  Chart ratios =
      chart("ratio of times (above 1 Tutti is faster)", "message size", "the MPI's time over Tutti's", "times");
  ratios.line_at = 1;
  ratios.spread_name = "middle half of the rounds";
  for (const PlottedCall* call : calls_) {
    if (!call->peer || call->bytes == 0 || !has(settings_.ranks, call->ranks)) continue;
    const PlottedPeer& peer = *call->peer;
    ChartPoint point{.x = static_cast<double>(call->bytes), .y = peer.ratio, .is_doubtful = !peer.is_resolved};
    if (peer.lower && peer.upper) point.spread = {*peer.lower, *peer.upper};
    add_point(ratios.series, fmt::format("{}, {}", peer.name, ranks_of(*call)), ranks_of(*call), Side::tutti, point);
  }
  if (!ratios.series.empty()) plots.push_back({"ratios", svg_of(ratios)});
}

std::vector<NamedPlot> Charts::all() const {
  std::vector<NamedPlot> plots;
  add_by_size(plots);
  add_by_ranks(plots);
  add_ratios(plots);
  return plots;
}

std::string title_of(const PlottedLinks& links) {
  if (links.figure == "latency") return "pairs: latency of short messages, us (lower is better)";
  if (links.figure == "bandwidth") return "pairs: bandwidth of long messages, GB/s (higher is better)";
  return "pairs: rate of short messages, million/s (higher is better)";
}

}  // namespace

std::string size_name(double bytes) {
  constexpr double kibi = 1024;
  if (bytes >= kibi * kibi * kibi) return fmt::format("{:g} GiB", bytes / kibi / kibi / kibi);
  if (bytes >= kibi * kibi) return fmt::format("{:g} MiB", bytes / kibi / kibi);
  return bytes >= kibi ? fmt::format("{:g} KiB", bytes / kibi) : fmt::format("{:g} B", bytes);
}

std::vector<NamedPlot> plots_of(std::string_view collective, const Plotted& plotted, const PlotSettings& settings) {
  return Charts{collective, plotted, settings}.all();
}

std::vector<NamedPlot> pair_plots(const Plotted& plotted) {
  std::vector<NamedPlot> plots;
  for (const PlottedLinks& links : plotted.links) {
    HeatMap map{.title = title_of(links),
                .subtitle = links.source,
                .row_title = "from rank",
                .column_title = "to rank",
                .is_lower_better = links.figure == "latency",
                .rows = links.rows};
    for (const PlottedLinks::Slow& slow : links.slow)
      map.marked.emplace_back(slow.from, slow.to);
    for (std::size_t rank = 1; rank < links.nodes.size(); ++rank)
      if (links.nodes[rank] != links.nodes[rank - 1]) map.borders.push_back(static_cast<int>(rank));
    const std::string name = "pairs-" + links.figure;
    const auto before =
        std::ranges::count_if(plots, [&](const NamedPlot& plot) { return plot.name.starts_with(name); });
    plots.push_back({before == 0 ? name : fmt::format("{}-{}", name, before + 1), svg_of(map)});
  }
  return plots;
}

}  // namespace tutti::tool
