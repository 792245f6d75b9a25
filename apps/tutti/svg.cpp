// tutti show --format svg: ranks side by side, time steps from top to bottom.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/json.hpp"
#include "apps/tutti/playback.hpp"
#include "apps/tutti/table.hpp"

namespace tutti::tool {
namespace {

// All in pixels. A row is one time step: on top the elements of the message that a rank sends, with their label, below
// them its arrow, down to the receiver's mark.
constexpr int margin = 20, left = 74, top = 104, strip_height = 15, arrow_from = 34;
constexpr int least_row_height = 62, row_height_per_rank = 2, mark_above = 6;  // the next row
constexpr int least_width = 760;
constexpr double letter_width = 5.6;  // of a label
constexpr std::string_view faulty = "#dc2626";

/// "0-3,6", "all", or "5 of 8" where that is too long.
std::string label_of(const Load& load, double width) {
  const std::size_t filled = load.filled();
  if (filled == 0) return "";
  if (filled == load.cells.size()) return "all";
  std::vector<std::string> ranges;
  for (std::size_t cell = 0; cell < load.cells.size(); ++cell) {
    if (!load.cells[cell].is_there) continue;
    const std::size_t first = cell;
    while (cell + 1 < load.cells.size() && load.cells[cell + 1].is_there)
      ++cell;
    ranges.push_back(first == cell ? fmt::format("{}", first) : fmt::format("{}-{}", first, cell));
  }
  const std::string label = fmt::format("{}", fmt::join(ranges, ","));
  const bool fits = static_cast<double>(label.size()) * letter_width <= width;
  return fits ? label : fmt::format("{} of {}", filled, load.cells.size());
}

class Drawing {
 public:
  Drawing(const Scene& scene, const Playback& playback)
      : scene_(scene), playback_(playback), ranks_(scene.what.size), pitch_(ranks_ > 8 ? 64 : 84) {}
  std::string svg();

 private:
  [[nodiscard]] int x_of(int rank) const { return left + rank * pitch_ + pitch_ / 2; }
  [[nodiscard]] int strip_width() const { return pitch_ - 14; }
  /// The more ranks, the flatter the arrows would be.
  [[nodiscard]] int row_height() const { return least_row_height + row_height_per_rank * std::max(ranks_, 6); }
  [[nodiscard]] int y_of(int row) const { return top + row * row_height(); }
  [[nodiscard]] int width() const { return std::max(least_width, left + ranks_ * pitch_ + margin); }
  [[nodiscard]] int rows() const { return playback_.time_steps + (is_signal() ? 0 : 1); }  // and one for the result
  [[nodiscard]] int height() const { return y_of(rows()) + 74; }
  [[nodiscard]] int cells() const { return static_cast<int>(playback_.cells.size()) - 1; }
  [[nodiscard]] std::string color_of(int cell) const;
  [[nodiscard]] std::string arrow_color_of(const Load& load) const;
  [[nodiscard]] bool is_signal() const { return playback_.cells.back() == Count{0}; }
  void text(int x, int y, std::string_view style, std::string_view text);
  void title();
  void fault();
  void background();
  void strip(int x, int y, int width, const Load& load, int height = strip_height);
  void mark(int x, int y, bool is_reduced, const std::string& color);
  void message(const Message& message);
  void results();
  void standstill();
  void legend();
  [[nodiscard]] std::string meaning_of_cells() const;

  const Scene& scene_;
  const Playback& playback_;
  int ranks_, pitch_;
  std::string out_;
};

/// A few cells get colours that are easy to tell apart; of many, neighbours differ in hue and lightness.
std::string Drawing::color_of(int cell) const {
  constexpr std::string_view few[] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759",
                                      "#b07aa1", "#dfb52c", "#55b3ad", "#8c6550"};
  if (cells() <= static_cast<int>(std::size(few))) return std::string{few[cell]};
  constexpr int circle = 330, even = 38, odd = 55;
  return fmt::format("hsl({},65%,{}%)", cell * circle / cells(), cell % 2 == 0 ? even : odd);
}

std::string Drawing::arrow_color_of(const Load& load) const {
  if (load.filled() != 1 || cells() == 1) return "#4b5563";
  const auto only = std::ranges::find(load.cells, true, &Load::Cell::is_there);
  return color_of(static_cast<int>(only - load.cells.begin()));
}

void Drawing::text(int x, int y, std::string_view style, std::string_view text) {
  out_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style, apps::xml_escaped(text));
}

void Drawing::title() {
  const Algorithm& algorithm = *scene_.choice.algorithm;
  text(margin, 26, "title", scene_.title());
  text(margin, 46, "note", algorithm.summary);
  if (scene_.verdict.proved())
    text(margin, 63, "note", fmt::format("{}; {} time steps", scene_.cost_text(), playback_.time_steps));
  else
    fault();
  for (int rank = 0; rank < ranks_; ++rank)
    text(x_of(rank), top - 10, scene_.names(rank) ? "rank faulty" : "rank", fmt::format("{}", rank));
  text(left - 12, top - 10, "row", "rank");
}

/// The first lines of it: the whole text appears when the pointer rests on it.
void Drawing::fault() {
  constexpr int line_height = 15;
  const std::string lines = wrapped(scene_.cost_text(), "", static_cast<std::size_t>((width() - 2 * margin) / 6));
  const std::size_t first = lines.find('\n'), second = std::min(lines.find('\n', first + 1), lines.size());
  out_ += fmt::format("<g><title>{}</title>\n", apps::xml_escaped(scene_.cost_text()));
  text(margin, 63, "note faulty", lines.substr(0, first));
  if (second > first + 1) text(margin, 63 + line_height, "note faulty", lines.substr(first + 1, second - first - 1));
  out_ += "</g>\n";
}

void Drawing::background() {
  for (int row = 0; row < rows(); ++row) {
    if (row % 2 == 0)
      out_ += fmt::format("<rect x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f3f4f6\"/>\n", y_of(row), width(),
                          row_height());
    text(left - 12, y_of(row) + 17, "row", row < playback_.time_steps ? fmt::format("time {}", row + 1) : "result");
  }
  for (int rank = 0; rank < ranks_; ++rank)
    out_ += fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{0}\" y2=\"{2}\" stroke=\"#d1d5db\"/>\n", x_of(rank), top,
                        y_of(playback_.time_steps) + 6);
}

/// The data that are there: a field per cell, filled as high as ranks are combined in it.
void Drawing::strip(int x, int y, int width, const Load& load, int height) {
  const double field = static_cast<double>(width) / cells();
  out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"strip\"/>\n", x, y, width, height);
  for (int cell = 0; cell < cells(); ++cell) {
    const auto& [is_there, ranks] = load.cells[static_cast<std::size_t>(cell)];
    if (!is_there) continue;
    const double full = std::min(1.0, static_cast<double>(ranks) / playback_.combined) * height;
    out_ += fmt::format(
        "<rect x=\"{0:.2f}\" y=\"{1}\" width=\"{2:.2f}\" height=\"{3}\" fill=\"{4}\" fill-opacity=\".25\"/>"
        "<rect x=\"{0:.2f}\" y=\"{5:.2f}\" width=\"{2:.2f}\" height=\"{6:.2f}\" fill=\"{4}\"/>\n",
        x + cell * field, y, field, height, color_of(cell), y + height - full, full);
  }
}

void Drawing::mark(int x, int y, bool is_reduced, const std::string& color) {
  out_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"5\" fill=\"{}\" stroke=\"{}\" class=\"mark\"/>\n", x, y,
                      is_reduced ? "#fff" : color, color);
  if (is_reduced) out_ += fmt::format("<path d=\"M{} {}h6m-3 -3v6\" stroke=\"{}\" class=\"mark\"/>\n", x - 3, y, color);
}

void Drawing::message(const Message& message) {
  const int x = x_of(message.from.value()), to = x_of(message.to.value()), y = y_of(message.time_step);
  const std::string color = message.is_faulty ? std::string{faulty} : arrow_color_of(message.load);
  out_ += fmt::format("<g><title>time step {}: rank {} sends {} elements, {}, to {}</title>\n", message.time_step + 1,
                      message.from.value(), message.count.value(), message.text, message.to.value());
  if (!is_signal()) {
    strip(x - strip_width() / 2, y + 6, strip_width(), message.load);
    text(x, y + 31, "label", label_of(message.load, strip_width()));
  }
  out_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" class=\"arrow\"/>\n", x,
                      y + arrow_from, to, y_of(message.time_step + 1) - mark_above, color);
  mark(to, y_of(message.time_step + 1) - mark_above, message.is_reduced, color);
  out_ += "</g>\n";
}

void Drawing::results() {
  for (int rank = 0; rank < ranks_; ++rank) {
    const Load& load = playback_.after[static_cast<std::size_t>(rank)];
    if (load.filled() == 0) continue;
    const int y = y_of(playback_.time_steps) + 16;
    strip(x_of(rank) - strip_width() / 2, y, strip_width(), load, 2 * strip_height);
    text(x_of(rank), y + 2 * strip_height + 12, "label", label_of(load, strip_width()));
  }
}

void Drawing::standstill() {
  for (int rank = 0; rank < ranks_; ++rank)
    if (const int steps = playback_.stuck[static_cast<std::size_t>(rank)]; steps > 0)
      text(x_of(rank), y_of(playback_.time_steps) + 72, "label faulty",
           fmt::format("{} step{} stuck", steps, steps == 1 ? "" : "s"));
}

std::string Drawing::svg() {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>text{{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#111827}} .title{{font-size:16px;"
      "font-weight:bold}} .note{{font-size:12px;fill:#4b5563}} .rank{{font-size:13px;font-weight:bold;"
      "text-anchor:middle}} .row{{font-size:11px;fill:#4b5563;text-anchor:end}} .label{{font-size:10px;"
      "text-anchor:middle}} .number{{font-size:10px;text-anchor:middle;fill:#fff;font-weight:bold}} "
      ".strip{{fill:#fff;stroke:#9ca3af;stroke-width:.7}} .arrow{{stroke-width:1.6}} "
      ".mark{{stroke-width:1.6}}{2}</style>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      width(), height(), scene_.verdict.proved() ? "" : fmt::format(" .faulty{{fill:{}}}", faulty));
  title();
  background();
  for (const Message& each : playback_.messages)
    message(each);
  if (!is_signal()) results();
  standstill();
  legend();
  return out_ + "</svg>\n";
}

void Drawing::legend() {
  const int y = y_of(rows()) + 16;
  if (is_signal()) return text(margin, y + 12, "note", "every message is a signal: it carries nothing");
  Load all;
  all.cells.assign(static_cast<std::size_t>(cells()), {true, playback_.combined});
  constexpr int field = 24, height = 18;
  const int width = cells() * field;
  strip(margin, y, width, all, height);
  for (int cell = 0; cell < cells(); ++cell)
    text(margin + cell * field + field / 2, y + 13, "number", fmt::format("{}", cell));
  text(margin + width + 10, y + 13, "note", meaning_of_cells());
  const int below = y + 42;
  mark(margin + 6, below - 4, false, "#4b5563");
  text(margin + 18, below, "note", "received");
  if (playback_.combined == 1) return;
  mark(margin + 96, below - 4, true, "#4b5563");
  text(margin + 108, below, "note",
       fmt::format("received and reduced; filled as high as ranks are combined: full, all {}", playback_.combined));
}

/// "elements from rank 0 to 7, 3 each"
std::string Drawing::meaning_of_cells() const {
  const std::vector<Count>& cells = playback_.cells;
  Count least = cells[1] - cells[0], most = least;
  for (std::size_t cell = 1; cell + 1 < cells.size(); ++cell) {
    least = std::min(least, cells[cell + 1] - cells[cell]);
    most = std::max(most, cells[cell + 1] - cells[cell]);
  }
  const std::string sizes =
      least == most ? fmt::format("{}", most.value()) : fmt::format("{} to {}", least.value(), most.value());
  const std::string_view elements = most == Count{1} ? "element" : "elements";
  if (cells.size() == 2) return fmt::format("all {} {}", sizes, elements);
  return fmt::format("{}, {} {} each", playback_.meaning, sizes, elements);
}

}  // namespace

std::string to_svg(const Scene& scene) { return Drawing{scene, playback_of(scene)}.svg(); }

}  // namespace tutti::tool
