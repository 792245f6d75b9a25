#pragma once
// The plots, the table and the page that tutti plot makes of results.

#include <string>
#include <string_view>
#include <vector>

#include "apps/tutti/plot_results.hpp"

namespace tutti::tool {

/// What of the results is drawn.
struct PlotSettings {
  std::string collective = "allreduce", note;
  bool in_place = false;
  std::vector<int> ranks;             ///< Of all but the plot by ranks; empty: all there are.
  std::int64_t switch_bytes = 32768;  ///< Latency to this size, bandwidth from it on.
  std::vector<std::int64_t> sizes;    ///< Of the plot by ranks; empty: the least, that of the switch and the largest.
};

struct NamedPlot {
  std::string name, svg;  ///< "latency"
};

/// Latency, bandwidth, time by ranks and ratios of a collective: those for which there are results.
[[nodiscard]] std::vector<NamedPlot> plots_of(std::string_view collective, const Plotted& plotted,
                                              const PlotSettings& settings);
/// "pairs-latency", "pairs-bandwidth", "pairs-rate" of the first file with pairs, then "pairs-latency-2", ...
[[nodiscard]] std::vector<NamedPlot> pair_plots(const Plotted& plotted);

/// Markdown: a row for each collective, a column for each MPI and number of ranks. A cell has the geometric mean of the
/// ratios and the least of those that are resolved, with its size.
[[nodiscard]] std::string ratio_table(const Plotted& plotted, const PlotSettings& settings);

/// One page of HTML with all plots of all collectives in it, the table, and what was left out.
[[nodiscard]] std::string page_of(const Plotted& plotted, const PlotSettings& settings);

/// "32 KiB"
[[nodiscard]] std::string size_name(double bytes);

}  // namespace tutti::tool
