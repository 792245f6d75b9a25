#include "apps/sgd/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/json.hpp"

namespace tutti::sgd {

namespace {

// Of Okabe and Ito, which people tell apart who do not see all colours.
constexpr std::array colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr int width = 560, height = 300, left = 64, right = 12, top = 34, bottom = 40, line = 16;

std::string text(double x, double y, std::string_view anchor, std::string_view words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" font-size=\"12\" fill=\"#808892\">{}</text>\n",
                     x, y, anchor, apps::xml_escaped(words));
}

std::string rule(double x1, double y1, double x2, double y2) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#80889255\"/>\n", x1, y1,
                     x2, y2);
}

std::string picture(double of_width, double of_height, const std::string& content) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\">\n{2}</svg>\n",
      of_width, of_height, content);
}

/// Round numbers from `least` to `most`, at most eight.
std::vector<double> round_numbers(double least, double most) {
  const double rough = (most - least) / 6, power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough) step = factor * power;
  std::vector<double> numbers;
  for (double at = std::ceil(least / step) * step; at <= most + step / 1000; at += step)
    numbers.push_back(at);
  return numbers;
}

/// The axes of curves, and where values are between them.
class Plane {
 public:
  explicit Plane(const Curves& curves) : is_logarithmic_(curves.is_logarithmic) {
    double least = INFINITY, most = 0;
    for (const auto& [name, values, first] : curves.series) {
      if (!values.empty()) count_ = std::max(count_, static_cast<std::size_t>(first) - 1 + values.size());
      for (const double value : values)
        least = std::min(least, value), most = std::max(most, value);
    }
    is_logarithmic_ = is_logarithmic_ && least > 0 && std::isfinite(least);
    least_ = is_logarithmic_ ? std::floor(std::log10(least)) : 0;
    most_ = is_logarithmic_ ? std::ceil(std::log10(most)) : most;
    if (!(most_ > least_)) most_ = least_ + 1;
  }
  [[nodiscard]] double x(double epoch) const {
    const double part = count_ > 1 ? (epoch - 1) / static_cast<double>(count_ - 1) : 0.5;
    return left + part * (width - left - right);
  }
  [[nodiscard]] double y(double value) const {
    const double at = is_logarithmic_ ? std::log10(value) : value;
    return height - bottom - (at - least_) / (most_ - least_) * (height - top - bottom);
  }
  [[nodiscard]] std::string axes(const Curves& curves) const {
    std::string drawn = text(left, 18, "start", curves.title) + text(width / 2.0, height - 6, "middle", curves.x_title);
    const auto mark = [&](double value) {
      drawn += rule(left, y(value), width - right, y(value)) +
               text(left - 6, y(value) + 4, "end", fmt::format("{:g}", value));
    };
    if (is_logarithmic_)
      for (double power = least_; power <= most_; ++power)
        mark(std::pow(10, power));
    else
      for (const double value : round_numbers(least_, most_))
        mark(value);
    const std::size_t every = std::max<std::size_t>(1, (count_ + 9) / 10);
    for (std::size_t epoch = 1; epoch <= count_; epoch += every)
      drawn += text(x(static_cast<double>(epoch)), height - bottom + 16, "middle", std::to_string(epoch));
    return drawn;
  }

 private:
  bool is_logarithmic_;
  std::size_t count_ = 0;
  double least_ = 0, most_ = 1;
};

}  // namespace

std::string svg_of(const Curves& curves) {
  const Plane plane{curves};
  std::string drawn = plane.axes(curves);
  double legend = height + line;
  for (std::size_t index = 0; index < curves.series.size(); ++index) {
    const auto& [name, values, first] = curves.series[index];
    const std::string_view colour = colours[index % colours.size()];
    std::string points;
    for (std::size_t epoch = 1; epoch <= values.size(); ++epoch) {
      const double x = plane.x(static_cast<double>(epoch) + first - 1), y = plane.y(values[epoch - 1]);
      points += fmt::format("{:.1f},{:.1f} ", x, y);
      drawn += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"><title>{:g}</title></circle>\n",
                           x, y, colour, values[epoch - 1]);
    }
    drawn +=
        fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.6\"/>\n", points, colour);
    if (curves.series.size() == 1) continue;
    drawn += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"12\" height=\"10\" fill=\"{}\"/>\n", left, legend - 10,
                         colour);
    drawn += text(left + 18, legend, "start", name);
    legend += line;
  }
  return picture(width, curves.series.size() == 1 ? height : legend, drawn);
}

std::string svg_of(const std::vector<Timeline::Span>& step) {
  constexpr double wide = 1120, row = 24, from = 130;
  double end = 0;
  for (const Timeline::Span& span : step)
    end = std::max(end, span.end);
  std::vector<double> free_from;  // by row of communication, when it is free
  std::string drawn = text(0, top + 16, "start", "computing") + text(0, top + 16 + row, "start", "communication");
  const auto x = [&](double seconds) { return from + seconds / end * (wide - from); };
  for (const Timeline::Span& span : step) {
    std::size_t index = 0;
    const bool computes = span.row == Timeline::Row::computing;
    if (!computes) {
      while (index < free_from.size() && free_from[index] > span.begin)
        ++index;
      if (index == free_from.size()) free_from.push_back(0);
      free_from[index++] = span.end;
    }
    const double y = top + row * static_cast<double>(index);
    const std::string_view colour = !computes                           ? colours[1]
                                    : span.name == "forward"            ? colours[0]
                                    : span.name.starts_with("backward") ? colours[5]
                                                                        : colours[2];
    drawn += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" stroke=\"#80889288\">"
        "<title>{}: {:.1f} % of the step</title></rect>\n",
        x(span.begin), y, std::max(0.5, x(span.end) - x(span.begin)), row - 4, colour, apps::xml_escaped(span.name),
        100 * (span.end - span.begin) / end);
    const double room = x(span.end) - x(span.begin);
    if (room > 7.0 * static_cast<double>(span.name.size()))
      drawn += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#ffffff\">{}</text>\n",
                           x(span.begin) + 4, y + 14, apps::xml_escaped(span.name));
  }
  const double rows = 1 + static_cast<double>(std::max<std::size_t>(1, free_from.size()));
  for (int part = 0; part <= 10; ++part)
    drawn += text(x(end * part / 10), top + row * rows + 14,
                  part == 0    ? "start"
                  : part == 10 ? "end"
                               : "middle",
                  fmt::format("{} %", 10 * part));
  return picture(wide, top + row * rows + 22, drawn);
}

}  // namespace tutti::sgd
