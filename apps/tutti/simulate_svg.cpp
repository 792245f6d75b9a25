// tutti simulate --format svg: ranks over time, and how busy links are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/json.hpp"
#include "apps/options.hpp"
#include "apps/tutti/plot_chart.hpp"
#include "apps/tutti/plot_views.hpp"
#include "apps/tutti/simulate_report.hpp"

namespace tutti::tool {
namespace {

// All in pixels.
constexpr double left_of_plot = 74, top_of_plot = 78, plot_width = 900, margin_of_picture = 20;
constexpr double most_rank_height = 22, least_rank_height = 7, most_plot_height = 900;
constexpr std::string_view of_message = "#7c8698", of_work = "#dfb52c", of_path = "#dc2626";

std::string words(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, style, apps::xml_escaped(text));
}

std::string head_of(double width, double height, std::string_view title, std::string_view note) {
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
             "role=\"img\" aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"11\">\n"
             "<style>text{{fill:#374151}}.title{{font-size:15px;font-weight:bold}}.note{{fill:#6b7280}}"
             ".row,.tick{{fill:#6b7280}}.row{{text-anchor:end}}.tick{{text-anchor:middle}}</style>\n"
             "<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
             width, height, apps::xml_escaped(title)) +
         words(margin_of_picture, 24, "title", title) + words(margin_of_picture, 42, "note", note);
}

/// A step of 1, 2 or 5 times a power of ten that cuts the length into ten parts or less.
double tick_of(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 10)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (length / (factor * power) <= 10) return factor * power;
  return 10 * power;
}

class TimePicture {
 public:
  TimePicture(const SimulatedRow& row, const SimulationSettings& settings)
      : row_(row),
        settings_(settings),
        pitch_(std::clamp(most_plot_height / settings.ranks, least_rank_height, most_rank_height)) {}

  std::string svg() {
    const double height = y_of(settings_.ranks) + 34;
    out_ = head_of(left_of_plot + plot_width + 2 * margin_of_picture, height,
                   fmt::format("{}: {}, {} bytes", row_.name, simulation_title(settings_), row_.bytes),
                   fmt::format("{:.3f} us; lower bound {:.3f} us, of {}; contention {:.2f}", row_.time, row_.bound,
                               row_.bound_reason, row_.contention));
    legend();
    grid();
    for (const ShownStep& step : row_.steps)
      draw(step, step.peer < 0 ? of_work : of_message, step.peer < 0 ? 0.9 : 0.45, 1);
    for (const ShownStep& step : row_.path)
      draw(step, of_path, 0.9, 2);
    return std::move(out_) + "</svg>\n";
  }

 private:
  [[nodiscard]] double x_of(double time) const {
    return left_of_plot + (row_.time > 0 ? time / row_.time : 0) * plot_width;
  }
  [[nodiscard]] double y_of(double rank) const { return top_of_plot + rank * pitch_; }
  [[nodiscard]] double middle_of(int rank) const { return y_of(rank + 0.5); }

  void legend() {
    double x = margin_of_picture;
    for (const auto& [colour, name] : {std::pair{of_message, "message, from ready to complete"},
                                       std::pair{of_work, "reduction or copy"}, std::pair{of_path, "critical path"}}) {
      out_ += fmt::format("<rect x=\"{}\" y=\"52\" width=\"14\" height=\"8\" fill=\"{}\"/>\n", x, colour);
      out_ += words(x + 19, 60, "note", name);
      x += 210;
    }
  }
  void grid() {
    const int step = static_cast<int>(std::ceil(12 / pitch_));
    for (int rank = 0; rank < settings_.ranks; ++rank) {
      out_ +=
          fmt::format("<path d=\"M{} {:.1f}h{}\" stroke=\"#e5e7eb\"/>\n", left_of_plot, middle_of(rank), plot_width);
      if (rank % step == 0) out_ += words(left_of_plot - 8, middle_of(rank) + 4, "row", fmt::format("rank {}", rank));
    }
    const double tick = tick_of(std::max(row_.time, 1e-9));
    for (int number = 0; number * tick <= row_.time; ++number) {
      const double time = number * tick;
      out_ += fmt::format("<path d=\"M{:.1f} {}V{:.1f}\" stroke=\"#e5e7eb\"/>\n", x_of(time), top_of_plot,
                          y_of(settings_.ranks));
      out_ += words(x_of(time), y_of(settings_.ranks) + 16, "tick", fmt::format("{:g} us", time));
    }
  }
  /// A message is a line from its sender to its receiver; what a rank does for itself is a bar.
  void draw(const ShownStep& step, std::string_view colour, double opacity, double width) {
    const bool is_message = step.peer >= 0;
    const int from = step.what == "send" ? step.rank : step.peer, to = step.what == "send" ? step.peer : step.rank;
    const std::string title =
        is_message ? fmt::format("{} > {}, {} bytes, {:.3f} to {:.3f} us", from, to, step.bytes, step.begin, step.end)
                   : fmt::format("{} on rank {}, {} bytes, {:.3f} to {:.3f} us", step.what, step.rank, step.bytes,
                                 step.begin, step.end);
    if (is_message)
      out_ += fmt::format(
          "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" stroke=\"{}\" stroke-opacity=\"{}\" "
          "stroke-width=\"{}\"><title>{}</title></path>\n",
          x_of(step.begin), middle_of(from), x_of(step.end), middle_of(to), colour, opacity, width, title);
    else
      out_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
          "fill-opacity=\"{}\"><title>{}</title></rect>\n",
          x_of(step.begin), middle_of(step.rank) - pitch_ * 0.3, std::max(0.5, x_of(step.end) - x_of(step.begin)),
          pitch_ * 0.6, colour, opacity, title);
  }

  const SimulatedRow& row_;
  const SimulationSettings& settings_;
  double pitch_;
  std::string out_;
};

/// From white over yellow to red: a share of 0 to 1.
std::string heat_of(double share) {
  const double heat = std::clamp(share, 0.0, 1.0);
  return fmt::format("hsl({:.0f},85%,{:.0f}%)", 52 - 52 * heat, 97 - 50 * heat);
}

constexpr double cell_height = 12, name_width = 260;
constexpr std::size_t most_cells = 400;  // of a line: of more links, neighbours share a cell

/// The busiest of each cell's links.
std::vector<double> in_cells(const std::vector<double>& shares) {
  const std::size_t cells = std::min(shares.size(), most_cells);
  std::vector<double> most(cells);
  for (std::size_t link = 0; link < shares.size(); ++link)
    most[link * cells / shares.size()] = std::max(most[link * cells / shares.size()], shares[link]);
  return most;
}

std::string heat_line(const LinkUse& use, double y) {
  std::string out = words(name_width - 8, y + cell_height - 2, "row",
                          fmt::format("{} ({}), most {:.0f} %", use.kind, use.shares.size(), use.share * 100));
  const std::vector<double> cells = in_cells(use.shares);
  const double width = plot_width / static_cast<double>(std::max<std::size_t>(cells.size(), 1));
  for (std::size_t cell = 0; cell < cells.size(); ++cell)
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{:.1f} %</title></rect>\n",
        name_width + static_cast<double>(cell) * width, y, width, cell_height, heat_of(cells[cell]), cells[cell] * 100);
  return out;
}

}  // namespace

std::string svg_of_time(const SimulatedRow& row, const SimulationSettings& settings) {
  if (!row.why_not.empty()) throw apps::InputError("--picture time: " + row.why_not);
  if (row.steps.size() > most_steps_in_picture)
    throw apps::InputError(
        fmt::format("--picture time: {} steps; allowed: up to {}", row.steps.size(), most_steps_in_picture));
  return TimePicture{row, settings}.svg();
}

std::string svg_of_links(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings) {
  std::string body;
  double y = 62;
  for (const SimulatedRow& row : rows) {
    if (!row.why_not.empty()) continue;
    body += words(margin_of_picture, y + 12, "", fmt::format("{}, {} bytes: {:.3f} us", row.name, row.bytes, row.time));
    y += 20;
    for (const LinkUse& use : row.links) {
      if (use.shares.empty()) continue;
      body += heat_line(use, y);
      y += cell_height + 2;
    }
    y += 10;
  }
  return head_of(
             name_width + plot_width + margin_of_picture, y + 10, "Links: " + simulation_title(settings),
             "a cell for each link: yellow to red, the share of the time in which it would be busy at its full rate") +
         body + "</svg>\n";
}

std::string svg_of_sizes(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings) {
  Chart chart{"Simulated: " + settings.collective, simulation_title(settings), "bytes of the larger buffer",
              "microseconds", "us"};
  chart.x_name = [](double bytes) { return size_name(bytes); };
  ChartSeries bound{"lower bound", "lower bound", true, {}};
  for (const SimulatedRow& row : rows) {
    if (bound.points.empty() || bound.points.back().x != static_cast<double>(row.bytes))
      bound.points.push_back({static_cast<double>(row.bytes), row.bound});
    if (!row.why_not.empty()) continue;
    const std::string label = row.name.starts_with("auto") ? "auto" : row.name;
    auto series = std::ranges::find(chart.series, label, &ChartSeries::label);
    if (series == chart.series.end()) series = chart.series.insert(series, ChartSeries{label, label, false, {}});
    series->points.push_back({static_cast<double>(row.bytes), row.time});
  }
  if (chart.series.empty()) throw apps::InputError("--picture sizes: nothing was simulated");
  chart.series.push_back(std::move(bound));
  return svg_of(chart);
}

}  // namespace tutti::tool
