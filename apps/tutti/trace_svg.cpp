// tutti trace --svg: one collective, ranks from top to bottom, time from left to right.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "apps/json.hpp"
#include "apps/options.hpp"
#include "apps/tutti/trace_views.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;

constexpr std::size_t most_ranks_drawn = 64, most_steps_drawn = 20'000;

// All in pixels. A row is a rank: its call as a bar, in which waits and work are; arrows run between the bars.
constexpr int margin = 20, left = 150, right = 30, top = 112, row_height = 40, bar_height = 18, chart_width = 820;
constexpr int width = left + chart_width + right;
constexpr std::string_view of_wait = "#f6c9c9", of_reduction = "#f28e2b", of_copy = "#b07aa1", inside = "#59a14f",
                           between = "#4e79a7";

const Instance& instance_of(const TracedJob& job, std::uint64_t sequence, std::string_view communicator) {
  std::vector<const Instance*> found;
  std::vector<std::string> names, all;
  for (const TracedCommunicator& each : job.communicators)
    all.push_back(each.name);
  for (const Instance& instance : job.instances) {
    const std::string& name = job.communicators[static_cast<std::size_t>(instance.communicator)].name;
    const bool is_named =
        communicator.empty() || name == communicator || name.substr(0, name.find('/')) == communicator;
    if (instance.sequence != sequence || instance.is_program || !is_named) continue;
    found.push_back(&instance);
    names.push_back(name);
  }
  if (found.empty())
    throw InputError(fmt::format("--operation {}: no collective has that number{}; the communicators are {}", sequence,
                                 communicator.empty() ? "" : fmt::format(" in '{}'", communicator),
                                 fmt::join(all, ", ")));
  if (found.size() > 1)
    throw InputError(fmt::format("--operation {}: several communicators have it; --communicator allowed: {}", sequence,
                                 fmt::join(names, ", ")));
  return *found.front();
}

class Drawing {
 public:
  Drawing(const TracedJob& job, const Instance& instance);
  std::string svg();

 private:
  /// A rank's part in the operation.
  struct Row {
    RecordIndex entry;
    int rank = 0;  ///< In the communicator.
    int node = -1;
    std::int64_t begin = 0, end = 0;
    std::vector<std::uint32_t> steps{}, waits{};  ///< Places in its trace.
  };
  void find_rows(const Instance& instance);
  [[nodiscard]] const TracedOperation& operation(const Row& row) const {
    return job_.files[row.entry.file].operations[row.entry.index];
  }
  [[nodiscard]] double x_of(std::int64_t time) const {
    return left + static_cast<double>(time - first_) / static_cast<double>(last_ - first_) * chart_width;
  }
  [[nodiscard]] static int y_of(std::size_t row) {
    return top + static_cast<int>(row) * row_height + (row_height - bar_height) / 2;
  }
  [[nodiscard]] int bottom() const { return top + static_cast<int>(rows_.size()) * row_height; }
  void text(double x, int y, std::string_view style, std::string_view text);
  void stretch(const Row& row, std::size_t at, std::int64_t begin, std::int64_t end, std::string_view color,
               std::string_view title);
  void title();
  void axis();
  void draw_row(std::size_t at);
  void draw_messages();
  void message(const Flow& flow, std::size_t from, std::size_t to);
  void legend();

  const TracedJob& job_;
  const TracedCommunicator& communicator_;
  std::uint64_t sequence_;
  std::vector<Row> rows_;
  std::int64_t first_ = 0, last_ = 1;
  std::string out_;
};

Drawing::Drawing(const TracedJob& job, const Instance& instance)
    : job_(job),
      communicator_(job.communicators[static_cast<std::size_t>(instance.communicator)]),
      sequence_(instance.sequence) {
  if (instance.entries.size() > most_ranks_drawn)
    throw InputError(
        fmt::format("--svg draws at most {} ranks, the operation has {}", most_ranks_drawn, instance.entries.size()));
  find_rows(instance);
}

void Drawing::find_rows(const Instance& instance) {
  std::size_t steps = 0;
  for (const RecordIndex& entry : instance.entries) {
    const TraceFile& file = job_.files[entry.file];
    const trace::BeginRecord& begun = file.operations[entry.index].begun;
    Row row{.entry = entry, .rank = file.communicators[begun.communicator].rank};
    row.node = communicator_.members.at(row.rank).node;
    std::int64_t end = std::max(begun.begin, file.operations[entry.index].end);
    for (std::uint32_t i = 0; i < file.steps.size(); ++i) {
      if (file.steps[i].operation != begun.operation) continue;
      end = std::max(end, file.steps[i].end);
      row.steps.push_back(i);
    }
    for (std::uint32_t i = 0; i < file.waits.size(); ++i)
      if (file.waits[i].operation == begun.operation) row.waits.push_back(i);
    row.begin = job_.time(entry.file, begun.begin);
    row.end = job_.time(entry.file, end);
    steps += row.steps.size();
    rows_.push_back(std::move(row));
  }
  if (steps > most_steps_drawn)
    throw InputError(fmt::format("--svg: {} steps are too many to draw, {} are not", steps, most_steps_drawn));
  std::ranges::stable_sort(rows_, {}, [](const Row& row) { return std::pair{row.node, row.rank}; });
  first_ = std::ranges::min(rows_, {}, &Row::begin).begin;
  last_ = std::max(first_ + 1, std::ranges::max(rows_, {}, &Row::end).end);
}

void Drawing::text(double x, int y, std::string_view style, std::string_view text) {
  out_ += fmt::format("<text x=\"{:.2f}\" y=\"{}\" class=\"{}\">{}</text>\n", x, y, style, apps::xml_escaped(text));
}

void Drawing::title() {
  const Row& any = rows_.front();
  const TraceFile& file = job_.files[any.entry.file];
  const trace::BeginRecord& begun = operation(any).begun;
  text(margin, 26, "title", fmt::format("{} {}", file.names[begun.collective], file.names[begun.algorithm]));
  std::string what =
      fmt::format("operation {} of communicator {}: {} ranks on {} node{}, {} bytes", sequence_, communicator_.name,
                  communicator_.size, communicator_.nodes, communicator_.nodes == 1 ? "" : "s", begun.bytes);
  if (begun.count > 0) what += fmt::format(" ({} elements of {})", begun.count, file.names[begun.type]);
  if (!file.names[begun.op].empty()) what += fmt::format(", {}", file.names[begun.op]);
  if (begun.root >= 0) what += fmt::format(", root {}", begun.root);
  text(margin, 46, "note", fmt::format("{}, {}", what, name_of(begun.start)));
  const auto micros = [](std::int64_t time) { return static_cast<double>(time) / 1000; };
  std::string times =
      fmt::format("{:.1f} us from the first entry to the last end; the last rank entered {:.1f} us after the first",
                  micros(last_ - first_), micros(std::ranges::max(rows_, {}, &Row::begin).begin - first_));
  if (job_.clock_count > 1)
    times += fmt::format("; clocks of different nodes agree within {:.1f} us", micros(job_.uncertainty));
  text(margin, 63, "note", times);
}

/// Lines at round numbers of microseconds, ten or fewer.
void Drawing::axis() {
  const double micros = static_cast<double>(last_ - first_) / 1000,
               power = std::pow(10, std::floor(std::log10(micros / 10)));
  double step = power * 10;
  for (const int each : {5, 2})
    if (micros / (each * power) <= 10) step = each * power;
  for (int i = 0; i * step <= micros; ++i) {
    const double x = left + i * step / micros * chart_width;
    out_ += fmt::format("<line x1=\"{0:.2f}\" y1=\"{1}\" x2=\"{0:.2f}\" y2=\"{2}\" stroke=\"#d1d5db\"/>\n", x, top - 4,
                        bottom());
    text(x, top - 10, "tick", fmt::format("{:g}", i * step));
  }
  text(left - 14, top - 10, "row", "us");
}

void Drawing::stretch(const Row& row, std::size_t at, std::int64_t begin, std::int64_t end, std::string_view color,
                      std::string_view title) {
  const double from = x_of(job_.time(row.entry.file, begin)), to = x_of(job_.time(row.entry.file, end));
  out_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"><title>{}, {:.1f} us</title></rect>\n",
      from, y_of(at), std::max(1.0, to - from), bar_height, color, apps::xml_escaped(title),
      static_cast<double>(end - begin) / 1000);
}

void Drawing::draw_row(std::size_t at) {
  const Row& row = rows_[at];
  const TraceFile& file = job_.files[row.entry.file];
  if (at == 0 || rows_[at - 1].node != row.node) {
    const auto is_other = [&](const Row& each) { return each.node != row.node; };
    const auto ranks = std::find_if(rows_.begin() + static_cast<std::ptrdiff_t>(at), rows_.end(), is_other) -
                       rows_.begin() - static_cast<std::ptrdiff_t>(at);
    if (row.node % 2 == 0)
      out_ += fmt::format("<rect x=\"0\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f3f4f6\"/>\n",
                          top + static_cast<int>(at) * row_height, width, ranks * row_height);
    text(margin, y_of(at) + 13, "note", fmt::format("node {}", row.node));
  }
  text(left - 14, y_of(at) + 13, "row", fmt::format("rank {}", row.rank));
  out_ += fmt::format(
      "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" class=\"call\"><title>rank {} on {}: {:.1f} "
      "us</title></rect>\n",
      x_of(row.begin), y_of(at), std::max(1.0, x_of(row.end) - x_of(row.begin)), bar_height, row.rank,
      apps::xml_escaped(file.host), static_cast<double>(row.end - row.begin) / 1000);
  for (const std::uint32_t i : row.waits)
    stretch(row, at, file.waits[i].begin, file.waits[i].end, of_wait,
            fmt::format("waits for rank {}", file.waits[i].peer));
  for (const std::uint32_t i : row.steps) {
    const trace::StepRecord& step = file.steps[i];
    if (step.action == trace::Action::send || is_receive(step.action)) continue;
    const bool is_reduction = step.action == trace::Action::reduce || step.action == trace::Action::finish;
    stretch(row, at, step.begin, step.end, is_reduction ? of_reduction : of_copy,
            fmt::format("{}, {} bytes", name_of(step.action), step.bytes));
  }
}

void Drawing::draw_messages() {
  constexpr auto none = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> rows(job_.files.size(), none);
  for (std::size_t at = 0; at < rows_.size(); ++at)
    rows[rows_[at].entry.file] = at;
  const auto row_of = [&](const RecordIndex& end) {
    const std::size_t at = rows[end.file];
    const bool is_here = at != none && rows_[at].entry.index + 1 == job_.files[end.file].steps[end.index].operation;
    return is_here ? at : none;
  };
  for (const Flow& flow : job_.flows)
    if (const std::size_t from = row_of(flow.send), to = row_of(flow.recv); from != none && to != none)
      message(flow, from, to);
}

void Drawing::message(const Flow& flow, std::size_t from, std::size_t to) {
  const trace::StepRecord& send = job_.files[flow.send.file].steps[flow.send.index];
  const trace::StepRecord& recv = job_.files[flow.recv.file].steps[flow.recv.index];
  const std::int64_t begin = job_.time(flow.send.file, send.begin), end = job_.time(flow.recv.file, recv.end);
  const double x1 = x_of(begin), x2 = x_of(end);
  const int y1 = y_of(from) + (to > from ? bar_height : 0), y2 = y_of(to) + (to > from ? 0 : bar_height);
  const bool is_local = rows_[from].node == rows_[to].node, is_reduced = recv.action == trace::Action::recv_reduce;
  const std::string_view color = is_local ? inside : between;
  out_ += fmt::format("<g><title>rank {} sends {} bytes to rank {} by {}: there after {:.1f} us</title>\n",
                      rows_[from].rank, send.bytes, rows_[to].rank, name_of(send.way),
                      static_cast<double>(end - begin) / 1000);
  out_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{}\" x2=\"{:.2f}\" y2=\"{}\" stroke=\"{}\" class=\"arrow\"/>\n", x1, y1,
                      x2, y2, color);
  out_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{}\" r=\"3.5\" fill=\"{}\" stroke=\"{}\" class=\"mark\"/></g>\n", x2,
                      y2, is_reduced ? "#fff" : color, color);
}

void Drawing::legend() {
  const int y = bottom() + 26;
  double x = margin;
  const auto box = [&](std::string_view color, std::string_view meaning) {
    out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"16\" height=\"11\" fill=\"{}\" stroke=\"#9ca3af\" stroke-width=\".7\"/>\n",
        x, y - 10, color);
    text(x + 22, y, "note", meaning);
    x += 40 + 6.6 * static_cast<double>(meaning.size());
  };
  box("#fff", "in the call");
  box(of_wait, "waits");
  box(of_reduction, "reduces");
  box(of_copy, "copies");
  const auto line = [&](std::string_view color, std::string_view meaning) {
    out_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{}\" x2=\"{:.2f}\" y2=\"{}\" stroke=\"{}\" class=\"arrow\"/>\n", x,
                        y - 4, x + 24, y - 4, color);
    text(x + 30, y, "note", meaning);
    x += 48 + 6.6 * static_cast<double>(meaning.size());
  };
  line(inside, "message inside a node");
  if (communicator_.nodes > 1) line(between, "between nodes");
  out_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{}\" r=\"3.5\" fill=\"#fff\" stroke=\"#4b5563\" class=\"mark\"/>\n",
                      x + 5, y - 4);
  text(x + 16, y, "note", "reduced as it arrives");
}

std::string Drawing::svg() {
  out_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
      "<style>text{{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#111827}} .title{{font-size:16px;"
      "font-weight:bold}} .note{{font-size:12px;fill:#4b5563}} .row{{font-size:11px;fill:#4b5563;text-anchor:end}} "
      ".tick{{font-size:11px;fill:#4b5563;text-anchor:middle}} .call{{fill:#fff;stroke:#9ca3af;stroke-width:.7}} "
      ".arrow{{stroke-width:1.4}} .mark{{stroke-width:1.4}}</style>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
      width, bottom() + 44);
  title();
  for (std::size_t at = 0; at < rows_.size(); ++at)
    draw_row(at);
  axis();
  draw_messages();
  legend();
  return out_ + "</svg>\n";
}

}  // namespace

std::string operation_svg(const TracedJob& job, std::uint64_t sequence, std::string_view communicator) {
  return Drawing{job, instance_of(job, sequence, communicator)}.svg();
}

}  // namespace tutti::tool
