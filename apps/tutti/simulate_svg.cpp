// tutti simulate --format svg: ranks over time, and how busy links are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "apps/json.hpp"
#include "apps/options.hpp"
#include "apps/tutti/plot_chart.hpp"
#include "apps/tutti/plot_views.hpp"
#include "apps/tutti/simulate_report.hpp"
#include "apps/tutti/table.hpp"

namespace tutti::tool {
namespace {

// All in pixels.
constexpr double left_of_plot = 74, plot_width = 900, margin_of_picture = 20;
constexpr double most_rank_height = 22, least_rank_height = 7, most_plot_height = 900;
constexpr std::string_view of_message = "#7c8698", of_work = "#dfb52c", of_path = "#dc2626", of_start = "#c3c9d4";

std::string words(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, style, apps::xml_escaped(text));
}

/// A text that is too long loses its middle.
std::string shortened(std::string text, std::size_t most) {
  constexpr std::string_view gap = "...";
  if (text.size() <= most) return text;
  const std::size_t kept = most - gap.size();
  return text.substr(0, kept - kept / 2).append(gap).append(text.substr(text.size() - kept / 2));
}

/// As many lines as the text needs if each has at most so many letters.
std::vector<std::string> lines_of(std::string_view text, std::size_t most) {
  std::vector<std::string> lines;
  std::istringstream wrapped_text{wrapped(text, "", most)};
  for (std::string line; std::getline(wrapped_text, line);)
    lines.push_back(shortened(std::move(line), most));
  return lines;
}

/// A title and notes, which begin with a line each.
class Head {
 public:
  Head(double width, std::string_view title, const std::vector<std::string>& notes) : width_(width), title_(title) {
    constexpr double letter_of_title = 9.5, letter_of_note = 6.6;
    const auto fitting = [&](double letter) {
      return static_cast<std::size_t>((width - 2 * margin_of_picture) / letter);
    };
    for (const std::string& line : lines_of(title, fitting(letter_of_title)))
      add("title", line);
    for (const std::string& note : notes)
      for (const std::string& line : lines_of(note, fitting(letter_of_note)))
        add("note", line);
  }
  /// Where the rest of the picture may begin.
  [[nodiscard]] double bottom() const { return bottom_; }
  [[nodiscard]] std::string svg(double height) const {
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" "
               "role=\"img\" aria-label=\"{2}\" font-family=\"sans-serif\" font-size=\"11\">\n"
               "<style>text{{fill:#374151}}.title{{font-size:15px;font-weight:bold}}.note{{fill:#6b7280}}"
               ".row,.tick{{fill:#6b7280}}.row{{text-anchor:end}}.tick{{text-anchor:middle}}</style>\n"
               "<rect width=\"{0}\" height=\"{1:.0f}\" fill=\"#fff\"/>\n",
               width_, height, apps::xml_escaped(title_)) +
           lines_;
  }

 private:
  void add(std::string_view style, const std::string& line) {
    constexpr double line_height = 17;
    bottom_ += line_height;
    lines_ += words(margin_of_picture, bottom_, style, line);
  }

  double width_, bottom_ = 7;
  std::string title_, lines_;
};

/// A step of 1, 2 or 5 times a power of ten that cuts the length into ten parts or less.
double tick_of(double length) {
  const double power = std::pow(10, std::floor(std::log10(length / 10)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (length / (factor * power) <= 10) return factor * power;
  return 10 * power;
}

class TimePicture {
 public:
  TimePicture(const SimulatedRow& row, const SimulationSettings& settings, const SimulatedMachine& machine)
      : row_(row),
        settings_(settings),
        head_(left_of_plot + plot_width + 2 * margin_of_picture,
              fmt::format("{}, {} bytes: {:.3f} us", row.name, row.bytes, row.time),
              {simulation_title(settings, machine),
               fmt::format("{}; contention {:.2f}", bound_text(row, settings), row.contention)}),
        top_(head_.bottom() + 44),
        pitch_(std::clamp(most_plot_height / settings.ranks, least_rank_height, most_rank_height)) {}

  std::string svg() {
    out_ = head_.svg(y_of(settings_.ranks) + 34);
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
  [[nodiscard]] double y_of(double rank) const { return top_ + rank * pitch_; }
  [[nodiscard]] double middle_of(int rank) const { return y_of(rank + 0.5); }

  void legend() {
    std::vector<std::pair<std::string_view, std::string_view>> marks{
        {of_message, "message, from ready to complete"}, {of_work, "reduction or copy"}, {of_path, "critical path"}};
    if (!settings_.late.empty()) marks.emplace_back(of_start, "before the start of a late rank");
    const double y = head_.bottom() + 18;
    double x = margin_of_picture;
    for (const auto& [colour, name] : marks) {
      constexpr double letter = 7, gap = 40;
      out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"14\" height=\"8\" fill=\"{}\"/>\n", x, y - 8, colour);
      out_ += words(x + 19, y, "note", name);
      x += gap + letter * static_cast<double>(name.size());
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
      out_ +=
          fmt::format("<path d=\"M{:.1f} {}V{:.1f}\" stroke=\"#e5e7eb\"/>\n", x_of(time), top_, y_of(settings_.ranks));
      out_ += words(x_of(time), y_of(settings_.ranks) + 16, "tick", fmt::format("{:g} us", time));
    }
  }
  /// A message is a line from its sender to its receiver; what a rank does for itself is a bar.
  void draw(const ShownStep& step, std::string_view colour, double opacity, double width) {
    if (step.what == "start") return draw_start(step, colour == of_path ? of_path : of_message);
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

  /// A grey bar until a late rank starts, and a mark of its start.
  void draw_start(const ShownStep& step, std::string_view mark) {
    const double top = middle_of(step.rank) - pitch_ * 0.3, height = pitch_ * 0.6;
    out_ += fmt::format(
        "<g><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"3\" height=\"{:.1f}\" fill=\"{}\"/>"
        "<title>rank {} starts at {:.3f} us</title></g>\n",
        x_of(0), top, x_of(step.end) - x_of(0), height, of_start, x_of(step.end) - 3, top, height, mark, step.rank,
        step.end);
  }

  const SimulatedRow& row_;
  const SimulationSettings& settings_;
  Head head_;
  double top_, pitch_;
  std::string out_;
};

/// From white over yellow to red: a share of 0 to 1.
std::string heat_of(double share) {
  const double heat = std::clamp(share, 0.0, 1.0);
  return fmt::format("hsl({:.0f},85%,{:.0f}%)", 52 - 52 * heat, 97 - 50 * heat);
}

constexpr double cell_height = 12, name_width = 260;
constexpr std::size_t most_cells = 400;  // of a line

/// The busiest of each cell's links, by their places among those of the kind; a link with many neighbours shares a
/// cell.
std::vector<std::size_t> in_cells(const std::vector<double>& shares) {
  std::vector<std::size_t> busiest;
  const std::size_t cells = std::min(shares.size(), most_cells);
  for (std::size_t link = 0; link < shares.size(); ++link) {
    const std::size_t cell = link * cells / shares.size();
    if (cell == busiest.size()) busiest.push_back(link);
    if (shares[link] > shares[busiest[cell]]) busiest[cell] = link;
  }
  return busiest;
}

std::string heat_line(const LinkUse& use, const simulator::Machine& machine, double y) {
  std::string out = words(name_width - 8, y + cell_height - 2, "row",
                          fmt::format("{} ({}), most {:.0f} %", use.kind, use.shares.size(), use.share * 100));
  const std::vector<std::size_t> cells = in_cells(use.shares);
  const double width = plot_width / static_cast<double>(std::max<std::size_t>(cells.size(), 1));
  for (std::size_t cell = 0; cell < cells.size(); ++cell)
    out += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.1f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}{}: {:.1f} "
        "%</title></rect>\n",
        name_width + static_cast<double>(cell) * width, y, width, cell_height, heat_of(use.shares[cells[cell]]),
        apps::xml_escaped(machine.name_of(use.links[cells[cell]])),
        cells.size() < use.shares.size() ? ", the busiest here" : "", use.shares[cells[cell]] * 100);
  return out;
}

/// What the colours mean.
std::string heat_scale(double y) {
  constexpr int steps = 20;
  constexpr double width = 12;
  std::string out = words(name_width - 8, y + cell_height - 2, "row", "busy 0 %");
  for (int step = 0; step < steps; ++step)
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                       name_width + step * width, y, width, cell_height, heat_of((step + 0.5) / steps));
  return out + words(name_width + steps * width + 6, y + cell_height - 2, "note",
                     "100 % of the time, if it carried its bytes at its full rate");
}

}  // namespace

std::string svg_of_time(const SimulatedRow& row, const SimulationSettings& settings, const SimulatedMachine& machine) {
  if (!row.why_not.empty()) throw apps::InputError("--picture time: not simulated: " + row.why_not);
  if (row.steps.size() > most_steps_in_picture)
    throw apps::InputError(
        fmt::format("--picture time: {} steps; allowed: up to {}", row.steps.size(), most_steps_in_picture));
  return TimePicture{row, settings, machine}.svg();
}

std::string svg_of_links(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                         const SimulatedMachine& machine) {
  const Head head{name_width + plot_width + margin_of_picture,
                  "How busy links are: " + settings.collective,
                  {simulation_title(settings, machine),
                   "a cell for each link, in the order of the topology; of many links, neighbours share a cell"}};
  double y = head.bottom() + 12;
  std::string body = heat_scale(y);
  y += 28;
  for (const SimulatedRow& row : rows) {
    if (!row.why_not.empty()) {
      body += words(margin_of_picture, y + 12, "",
                    fmt::format("{}, {} bytes: not simulated: {}", row.name, row.bytes, row.why_not));
      y += 30;
      continue;
    }
    body += words(margin_of_picture, y + 12, "", fmt::format("{}, {} bytes: {:.3f} us", row.name, row.bytes, row.time));
    y += 20;
    for (const LinkUse& use : row.links) {
      if (use.shares.empty()) continue;
      body += heat_line(use, machine.machine, y);
      y += cell_height + 2;
    }
    y += 10;
  }
  return head.svg(y + 10) + body + "</svg>\n";
}

std::string svg_of_sizes(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                         const SimulatedMachine& machine) {
  constexpr std::size_t letters_of_line = 94, letters_of_label = 24;
  Chart chart{"Simulated: " + settings.collective, "", "bytes of the larger buffer", "microseconds", "us"};
  for (const std::string& line : lines_of(simulation_title(settings, machine), letters_of_line))
    chart.subtitle += (chart.subtitle.empty() ? "" : "\n") + line;
  chart.x_name = [](double bytes) { return size_name(bytes); };
  ChartSeries bound{settings.is_sequence() ? "bound of longest call" : "lower bound", "", true, {}, true};
  for (const SimulatedRow& row : rows) {
    if (bound.points.empty() || bound.points.back().x != static_cast<double>(row.bytes))
      bound.points.push_back({static_cast<double>(row.bytes), row.bound});
    if (!row.why_not.empty()) continue;
    const std::string name = row.name.starts_with("auto") ? "auto" : row.name;
    auto series = std::ranges::find(chart.series, name, &ChartSeries::group);
    if (series == chart.series.end())
      series = chart.series.insert(series, ChartSeries{shortened(name, letters_of_label), name, false, {}});
    series->points.push_back({static_cast<double>(row.bytes), row.time});
  }
  if (chart.series.empty()) throw apps::InputError("--picture sizes: nothing was simulated");
  chart.series.push_back(std::move(bound));
  return svg_of(chart);
}

}  // namespace tutti::tool
