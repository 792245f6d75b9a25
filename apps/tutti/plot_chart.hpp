#pragma once
// Plots as SVG: series of points over two axes, and heat maps. Their colours suit light and dark pages alike.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::tool {

struct ChartPoint {
  double x = 0, y = 0;
  std::optional<std::pair<double, double>> spread{};  ///< A bar from the one value to the other.
  bool is_doubtful = false;                           ///< Hollow.
};

struct ChartSeries {
  std::string label, group;  ///< Series of one group have one colour; beyond six groups, others by dashes and marks.
  bool is_dashed = false;
  std::vector<ChartPoint> points{};  ///< By x.
  bool is_limit = false;             ///< What all others are compared with: black.
};

/// Both axes are logarithmic.
struct Chart {
  /// `subtitle`: one line or several.
  std::string title, subtitle, x_title, y_title, unit;  ///< `unit`: of y, behind the values that a pointer shows.
  std::string spread_name{};                            ///< What the bars are.
  std::string (*x_name)(double x) = nullptr;
  std::vector<ChartSeries> series{};  ///< With one point at least.
  std::optional<double> line_at{};    ///< A line across, at this y.
  /// A line down behind this x, if there are points on both sides, and its words.
  std::optional<std::pair<double, std::string>> border{};
};
[[nodiscard]] std::string svg_of(const Chart& chart);

/// Cells with a value each, but for those that are 0. The colour says how many times better or worse than the median it
/// is.
struct HeatMap {
  std::string title, subtitle, row_title, column_title;
  bool is_lower_better = false;
  std::vector<std::vector<double>> rows;
  std::vector<std::pair<int, int>> marked{};  ///< Cells with a frame: row, column.
  std::vector<int> borders{};                 ///< Lines before these rows and columns.
};
[[nodiscard]] std::string svg_of(const HeatMap& map);

}  // namespace tutti::tool
