// Heat maps: rows from top to bottom, columns from left to right.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/bench/statistics.hpp"
#include "apps/json.hpp"
#include "apps/tutti/plot_chart.hpp"

namespace tutti::tool {
namespace {

// All in pixels.
constexpr double left = 70, top = 92, legend_height = 60, right = 20;
constexpr double most_cell = 52, least_cell = 10, most_side = 720, least_side = 500;
constexpr double least_cell_with_value = 36;
constexpr double darkest = 2;  // times better or worse than the median

struct Colour {
  double red, green, blue;
};
constexpr Colour usual{236, 238, 240}, better{47, 158, 104}, worse{214, 72, 107};

/// Of a value that is so many times better than the median.
std::string colour_of(double times) {
  const double share = std::min(1.0, std::abs(std::log(times)) / std::log(darkest));
  const Colour& to = times >= 1 ? better : worse;
  const auto mixed = [&](double Colour::*part) { return std::lround(std::lerp(usual.*part, to.*part, share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", mixed(&Colour::red), mixed(&Colour::green), mixed(&Colour::blue));
}

std::string text(double x, double y, std::string_view words, std::string_view style) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, style, apps::xml_escaped(words));
}

class Drawing {
 public:
  explicit Drawing(const HeatMap& map)
      : map_(map),
        size_(static_cast<int>(map.rows.size())),
        cell_(std::clamp(most_side / std::max(1, size_), least_cell, most_cell)) {
    std::vector<double> values;
    for (const auto& row : map.rows)
      std::ranges::copy_if(row, std::back_inserter(values), [](double value) { return value > 0; });
    if (!values.empty()) median_ = bench::spread_of(std::move(values)).median;
  }
  std::string svg();

 private:
  [[nodiscard]] double side() const { return cell_ * size_; }
  [[nodiscard]] double x_of(int column) const { return left + column * cell_; }
  [[nodiscard]] double y_of(int row) const { return top + row * cell_; }
  [[nodiscard]] double better_by(double value) const {
    return map_.is_lower_better ? median_ / value : value / median_;
  }
  void cell(int row, int column);
  void names();
  void borders();
  void legend();

  const HeatMap& map_;
  int size_;
  double cell_, median_ = 1;
  std::string out_;
};

void Drawing::cell(int row, int column) {
  const double value = map_.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
  if (value <= 0) return;
  out_ += fmt::format(
      "<rect class=\"cell\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"><title>from rank "
      "{} to rank {}: {:.3g}</title></rect>\n",
      x_of(column) + 0.5, y_of(row) + 0.5, cell_ - 1, cell_ - 1, colour_of(better_by(value)), row, column, value);
  if (cell_ >= least_cell_with_value)
    out_ += text(x_of(column) + cell_ / 2, y_of(row) + cell_ / 2 + 4, fmt::format("{:.3g}", value), "value");
}

void Drawing::names() {
  const int step = cell_ >= 16 ? 1 : 4;
  for (int rank = 0; rank < size_; rank += step) {
    out_ += text(x_of(rank) + cell_ / 2, top - 6, fmt::to_string(rank), "name");
    out_ += text(left - 8, y_of(rank) + cell_ / 2 + 4, fmt::to_string(rank), "row");
  }
  out_ += text(left + side() / 2, top - 22, map_.column_title, "name");
  const double middle = top + side() / 2;
  out_ += fmt::format("<text x=\"20\" y=\"{0:.1f}\" class=\"name\" transform=\"rotate(-90 20 {0:.1f})\">{1}</text>\n",
                      middle, apps::xml_escaped(map_.row_title));
}

void Drawing::borders() {
  for (const int at : map_.borders)
    out_ += fmt::format("<path class=\"border\" d=\"M{:.1f} {:.1f}V{:.1f}M{:.1f} {:.1f}H{:.1f}\"/>\n", x_of(at), top,
                        top + side(), left, y_of(at), left + side());
  for (const auto& [row, column] : map_.marked)
    out_ += fmt::format("<rect class=\"slow\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                        x_of(column) + 1.5, y_of(row) + 1.5, cell_ - 3, cell_ - 3);
}

void Drawing::legend() {
  double x = left;
  const double y = top + side() + 22;
  const std::array<std::pair<double, std::string_view>, 3> keys{
      {{1 / darkest, "half as good or worse"}, {1, "median"}, {darkest, "twice as good or better"}}};
  for (const auto& [times, words] : keys) {
    out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"11\" fill=\"{}\"/>\n", x, y - 10,
                        colour_of(times));
    out_ += text(x + 20, y, words, "note");
    x += 36 + 7 * static_cast<double>(words.size());
  }
  if (map_.marked.empty()) return;
  out_ += fmt::format("<rect class=\"slow\" x=\"{}\" y=\"{:.1f}\" width=\"12\" height=\"10\"/>\n", left, y + 11);
  out_ += text(left + 20, y + 20, "slow, beside the links of its kind", "note");
}

std::string Drawing::svg() {
  const double width = std::max(left + side() + right, left + least_side + right);
  const double height = top + side() + legend_height;
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"12\" "
      "fill=\"#808892\">\n<style>.title{{font-size:15px;font-weight:bold}}.name{{text-anchor:middle}}.row{{"
      "text-anchor:end}}.value{{text-anchor:middle;fill:#111827;font-size:11px}}.border{{stroke:#111827;"
      "stroke-width:1.5}}.slow{{fill:none;stroke:#b91c1c;stroke-width:2.5}}</style>\n",
      width, height, apps::xml_escaped(map_.title));
  out_ += text(left, 20, map_.title, "title") + text(left, 38, map_.subtitle, "note");
  for (int row = 0; row < size_; ++row)
    for (int column = 0; column < size_; ++column)
      cell(row, column);
  names();
  borders();
  legend();
  return std::move(out_) + "</svg>\n";
}

}  // namespace

std::string svg_of(const HeatMap& map) { return Drawing{map}.svg(); }

}  // namespace tutti::tool
