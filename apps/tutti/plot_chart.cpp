#include "apps/tutti/plot_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>

#include "apps/json.hpp"

namespace tutti::tool {
namespace {

// All in pixels; the legend is in the right margin.
constexpr double width = 740, height = 400, left = 64, right = width - 206, top = 52, bottom = height - 48;
constexpr double legend_left = right + 14, legend_row = 20;
constexpr std::size_t most_x_names = 8;
constexpr std::string_view colours[] = {"#3b82f6", "#e07b2a", "#2f9e68", "#a06bd8", "#d6486b", "#8a8f98"};
constexpr std::string_view neutral = "#808892";
/// How the series of one colour are told apart.
constexpr std::string_view dashes_of[] = {"", "9 3", "2 3", "9 3 2 3"};
enum class Mark : std::uint8_t { circle, square, diamond, triangle };

/// Logarithmic: from values to places between `begin` and `end`.
class Axis {
 public:
  Axis(double low, double high, double begin, double end) : low_(low), high_(high), begin_(begin), end_(end) {
    if (low_ == high_) low_ /= 2, high_ *= 2;
  }
  /// Of what is not positive: its beginning.
  [[nodiscard]] double place(double value) const {
    if (value <= 0) return begin_;
    return begin_ + std::log(value / low_) / std::log(high_ / low_) * (end_ - begin_);
  }
  /// 1, 2 and 5 times powers of ten; 1 only where that would be many.
  [[nodiscard]] std::vector<double> ticks() const {
    const int first = static_cast<int>(std::floor(std::log10(low_))),
              last = static_cast<int>(std::ceil(std::log10(high_)));
    std::vector<double> values;
    for (int power = first; power <= last; ++power)
      for (const int factor : {1, 2, 5})
        if (const double value = factor * std::pow(10, power);
            (factor == 1 || last - first < 4) && low_ <= value && value <= high_)
          values.push_back(value);
    return values;
  }

 private:
  double low_, high_, begin_, end_;
};

std::string text(double x, double y, std::string_view words, std::string_view anchor = "middle",
                 std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     apps::xml_escaped(words));
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart), xs_(all_x(chart)), x_(*xs_.begin(), *xs_.rbegin(), left + 10, right - 10), y_(y_axis(chart)) {}
  std::string svg();

 private:
  static std::set<double> all_x(const Chart& chart);
  static Axis y_axis(const Chart& chart);
  /// The number of the series' group among all of them.
  [[nodiscard]] std::size_t group_of(const ChartSeries& series) const;
  [[nodiscard]] bool has_doubts() const {
    return std::ranges::any_of(chart_.series, [](const ChartSeries& series) {
      return std::ranges::any_of(series.points, &ChartPoint::is_doubtful);
    });
  }
  void grid();
  void border();
  void draw(const ChartSeries& series, std::size_t number);
  [[nodiscard]] std::string drawn(const ChartPoint& point, const ChartSeries& series, std::string_view colour,
                                  Mark mark) const;

  const Chart& chart_;
  std::set<double> xs_;
  Axis x_, y_;
  std::string out_;
};

std::set<double> Drawing::all_x(const Chart& chart) {
  std::set<double> xs;
  for (const ChartSeries& series : chart.series)
    for (const ChartPoint& point : series.points)
      xs.insert(point.x);
  return xs;
}

Axis Drawing::y_axis(const Chart& chart) {
  constexpr double margin = 1.15;
  double low = std::numeric_limits<double>::max(), high = 0;
  const auto include = [&](double y) {
    if (y > 0) low = std::min(low, y), high = std::max(high, y);  // others have no place on the axis
  };
  if (chart.line_at) include(*chart.line_at);
  for (const ChartSeries& series : chart.series) {
    for (const ChartPoint& point : series.points) {
      include(point.y);
      if (point.spread) include(point.spread->first), include(point.spread->second);
    }
  }
  if (high == 0) low = high = 1;
  return {low / margin, high * margin, bottom, top};
}

std::size_t Drawing::group_of(const ChartSeries& series) const {
  std::vector<std::string> groups;
  for (const ChartSeries& each : chart_.series)
    if (std::ranges::find(groups, each.group) == groups.end()) groups.push_back(each.group);
  return static_cast<std::size_t>(std::ranges::find(groups, series.group) - groups.begin());
}

void Drawing::grid() {
  const std::vector<double> xs(xs_.begin(), xs_.end());
  const std::size_t step = (xs.size() + most_x_names - 1) / most_x_names;  // names of more would touch each other
  for (std::size_t i = 0; i < xs.size(); i += step) {
    out_ += fmt::format("<path class=\"grid\" d=\"M{:.1f} {}V{}\"/>\n", x_.place(xs[i]), top, bottom);
    out_ += text(x_.place(xs[i]), bottom + 16, chart_.x_name(xs[i]));
  }
  for (const double value : y_.ticks()) {
    out_ += fmt::format("<path class=\"grid\" d=\"M{} {:.1f}H{}\"/>\n", left, y_.place(value), right);
    out_ += text(left - 6, y_.place(value) + 4, fmt::format("{:g}", value), "end");
  }
  if (chart_.line_at)
    out_ += fmt::format("<path class=\"line\" d=\"M{} {:.1f}H{}\"/>\n", left, y_.place(*chart_.line_at), right);
  const double middle = (top + bottom) / 2;
  out_ += text((left + right) / 2, height - 10, chart_.x_title);
  out_ += text(14, middle, chart_.y_title, "middle", fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", middle));
}

void Drawing::border() {
  if (!chart_.border || *xs_.begin() > chart_.border->first || *xs_.rbegin() <= chart_.border->first) return;
  const double place = x_.place(chart_.border->first + 0.5);
  out_ += fmt::format("<path class=\"border\" d=\"M{:.1f} {}V{}\"/>\n", place, top, bottom);
  out_ += text(place + 5, top + 12, chart_.border->second, "start");
}

/// A mark with its middle at a place.
std::string shape_of(Mark mark, double x, double y) {
  switch (mark) {
    case Mark::circle:
      return fmt::format(R"(circle cx="{:.1f}" cy="{:.1f}" r="3")", x, y);
    case Mark::square:
      return fmt::format(R"(path d="M{:.1f} {:.1f}h6v6h-6z")", x - 3, y - 3);
    case Mark::diamond:
      return fmt::format(R"(path d="M{:.1f} {:.1f}l4 4l-4 4l-4 -4z")", x, y - 4);
    case Mark::triangle:
      return fmt::format(R"(path d="M{:.1f} {:.1f}l4 7h-8z")", x, y - 4);
  }
  return {};
}

std::string Drawing::drawn(const ChartPoint& point, const ChartSeries& series, std::string_view colour,
                           Mark mark) const {
  const double x = x_.place(point.x), y = y_.place(point.y);
  std::string words = fmt::format("{}, {}: {:.3g} {}", series.label, chart_.x_name(point.x), point.y, chart_.unit);
  std::string bar;
  if (point.spread) {
    const auto [from, to] = *point.spread;
    words += fmt::format(", {}: {:.3g} to {:.3g}", chart_.spread_name, from, to);
    bar = fmt::format(R"(<path class="bar" d="M{:.1f} {:.1f}V{:.1f}"/>)", x, y_.place(from), y_.place(to));
  }
  if (point.is_doubtful) words += ", not resolved";
  const bool is_hollow = point.is_doubtful || series.is_dashed;
  const std::string_view tag = mark == Mark::circle ? "circle" : "path";
  return fmt::format(R"({}<{} fill="{}"><title>{}</title></{}>)", bar, shape_of(mark, x, y),
                     is_hollow ? "none" : colour, apps::xml_escaped(words), tag);
}

void Drawing::draw(const ChartSeries& series, std::size_t number) {
  const std::size_t group = group_of(series), style = series.is_limit ? 0 : group / std::size(colours) % 4;
  const std::string_view colour = series.is_limit ? "currentColor" : colours[group % std::size(colours)];
  const std::string_view pattern = series.is_dashed ? "5 4" : dashes_of[style];
  const std::string dashes = pattern.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", pattern);
  std::string path, points;
  for (const ChartPoint& point : series.points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x_.place(point.x), y_.place(point.y));
    points += drawn(point, series, colour, static_cast<Mark>(style));
  }
  const double y = top + 8 + legend_row * static_cast<double>(number);
  if (style > 0)
    points += fmt::format("<{} fill=\"{}\"/>", shape_of(static_cast<Mark>(style), legend_left + 11, y), colour);
  out_ +=
      fmt::format("<g class=\"series{}\" stroke=\"{}\"><polyline points=\"{}\"{}/>{}<path d=\"M{} {}h22\"{}/></g>\n",
                  series.is_limit ? " limit" : "", colour, path, dashes, points, legend_left, y, dashes);
  out_ += text(legend_left + 28, y + 4, series.label, "start", " class=\"label\"");
}

std::string Drawing::svg() {
  constexpr double subtitle_row = 16;
  const double legend = top + 8 + legend_row * static_cast<double>(chart_.series.size());
  const double whole = std::max(height, legend + legend_row);
  std::istringstream subtitle{chart_.subtitle};
  std::vector<std::string> lines;
  for (std::string line; std::getline(subtitle, line);)
    lines.push_back(std::move(line));
  if (lines.empty()) lines.emplace_back();
  const double above = subtitle_row * static_cast<double>(lines.size() - 1);  // one fits in: others need more height
  const bool has_limit = std::ranges::any_of(chart_.series, &ChartSeries::is_limit);
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {4} {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"{3}\">\n"
      "<style>.grid{{stroke:{3};stroke-opacity:.3}}.line{{stroke:{3};stroke-width:1.5}}.border{{stroke:{3};"
      "stroke-dasharray:2 3}}.series{{fill:none;stroke-width:2}}.bar{{stroke-width:1.2}}{5}</style>\n",
      width, whole + above, apps::xml_escaped(chart_.title), neutral, 0 - above,
      has_limit ? ".limit{color:#000}@media(prefers-color-scheme:dark){.limit{color:#fff}}" : "");
  out_ += text(left, 20 - above, chart_.title, "start", R"( font-size="15" font-weight="bold")");
  for (std::size_t line = 0; line < lines.size(); ++line)
    out_ += text(left, 38 - above + subtitle_row * static_cast<double>(line), lines[line], "start");
  grid();
  border();
  for (std::size_t i = 0; i < chart_.series.size(); ++i)
    draw(chart_.series[i], i);
  if (has_doubts()) out_ += text(legend_left, legend + 4, "hollow points: not resolved", "start");
  return std::move(out_) + "</svg>\n";
}

}  // namespace

std::string svg_of(const Chart& chart) { return Drawing{chart}.svg(); }

}  // namespace tutti::tool
