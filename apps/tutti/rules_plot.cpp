// tutti rules plot: what a file of rules chooses, as a picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "apps/files.hpp"
#include "apps/json.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_grid.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/rules_commands.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tool {
namespace {

constexpr std::int64_t most_ranks = 1 << 20;
constexpr std::size_t most_rows = 200;
constexpr double largest_exponent = 30;  // the sizes go from 0 and 1 byte to 1 GiB
// All in pixels.
constexpr int margin = 20, left = 120, doubling = 22, row_height = 24, above = 44, below = 34, legend_width = 210;
constexpr double letter_width = 6.0;
constexpr int chart_width = doubling * 30;
constexpr std::string_view colors[] = {"#2563eb", "#dc2626", "#059669", "#d97706", "#7c3aed", "#0891b2",
                                       "#be185d", "#65a30d", "#92400e", "#475569", "#ea580c", "#0d9488"};

struct Settings {
  std::string path, output, collective, memory = "host";
  int ppn = 0, processors = 0;
};

/// How much faster the algorithm is than the quickest of the others that were measured; 0: it was not measured.
double margin_of(const Measured& its) {
  double other = 0;
  for (const double us : {its.default_us, its.next_us})
    if (us > 0 && (other == 0 || us < other)) other = us;
  return its.us > 0 && other > 0 ? other / its.us : 0;
}
/// Without a margin a colour is half faded; from a margin of 1.6 on it is full.
double opacity_of(const Measured& measured) {
  const double margin = margin_of(measured);
  return margin == 0 ? 0.55 : std::clamp(0.35 + (margin - 1) * 1.1, 0.35, 1.0);
}

double x_of(std::int64_t bytes) {
  const double exponent = bytes <= 1 ? 0 : std::min(largest_exponent, std::log2(static_cast<double>(bytes)));
  return left + exponent * doubling;
}

/// "1 KiB"
std::string size_text(int exponent) {
  constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB"};
  return fmt::format("{} {}", 1 << exponent % 10, units[exponent / 10]);
}

class RuleDrawing {
 public:
  RuleDrawing(const SiteRules& site, const Settings& settings) : site_(site), settings_(settings) {}

  std::string svg(const std::vector<Collective>& collectives) && {
    for (const Collective collective : collectives)
      chart(collective);
    const int width = left + chart_width + legend_width + margin, height = y_ + margin;
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
               "<style>text{{font-family:'DejaVu Sans',Verdana,sans-serif;fill:#111827;font-size:11px}} "
               ".title{{font-size:15px;font-weight:bold}} .note{{fill:#4b5563}} .row{{text-anchor:end}} "
               ".size{{text-anchor:middle;fill:#4b5563}} .use{{font-size:10px}} .light{{fill:#fff}}</style>\n"
               "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
               width, height) +
           out_ + "</svg>\n";
  }

 private:
  [[nodiscard]] Question question_of(Collective collective, std::int64_t ranks) const {
    Question question{.collective = collective, .ranks = static_cast<int>(ranks)};
    if (settings_.ppn > 0) question.nodes = (question.ranks + settings_.ppn - 1) / settings_.ppn;
    question.most_on_a_node = settings_.ppn > 0 ? std::min(question.ranks, settings_.ppn) : 0;
    question.shares_memory = question.nodes == 1;
    question.memory = static_cast<AssumedMemory>(std::ranges::find(assumed_memory_names, settings_.memory) -
                                                 assumed_memory_names.begin());
    question.maps_devices = question.shares_memory && question.memory == AssumedMemory::device;
    question.manner = records::Manner::blocking;
    question.shares_processors = question.shares_memory && shares_processors(collective, ranks);
    return question;
  }
  /// As the processors say; else as rules of the file want it.
  [[nodiscard]] bool shares_processors(Collective collective, std::int64_t ranks) const {
    if (settings_.processors > 0) return ranks >= 2 * std::int64_t{settings_.processors};
    return std::ranges::any_of(site_.table.of(collective), [&](const Rule& rule) {
      return rule.when.ranks.contains(ranks) && rule.when.shares_processors == true;
    });
  }

  void text(double x, double y, std::string_view style, std::string_view text) {
    out_ +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, style, apps::xml_escaped(text));
  }

  void chart(Collective collective) {
    std::vector<Range> rows = rank_ranges(collective, {&site_.table}, most_ranks);
    if (rows.size() > 1 && rows.front().most == 1) rows.erase(rows.begin());  // one rank has nothing to choose
    if (rows.size() > most_rows) rows.resize(most_rows);
    legend_.clear();
    has_builtin_ = has_margins_ = false;
    const int top = y_ + above;
    text(margin, y_ + 22, "title", to_string(collective));
    text(left, y_ + 38, "note",
         fmt::format("ranks down ({}), bytes of the larger buffer across; {} memory",
                     settings_.ppn > 0 ? fmt::format("{} on each node", settings_.ppn) : "all on one node",
                     settings_.memory));
    for (std::size_t i = 0; i < rows.size(); ++i)
      row(question_of(collective, rows[i].least), rows[i], top + static_cast<int>(i) * row_height);
    const int bottom = top + static_cast<int>(rows.size()) * row_height;
    for (int exponent = 0; exponent <= 30; exponent += 5)
      text(left + exponent * doubling, bottom + 14, "size", size_text(exponent));
    y_ = std::max(bottom + below, legend(top) + below / 2);
  }

  void row(const Question& question, const Range& ranks, int y) {
    text(left - 8, y + 16, "row", ranks.least == 1 && ranks.most == Range::no_end ? "any" : range_text(ranks));
    const std::vector<SelectionFrom> found = select_by_size(question, {}, &site_.table);
    for (std::size_t i = 0; i < found.size(); ++i) {
      const Range bytes{found[i].bytes.value(), i + 1 < found.size() ? found[i + 1].bytes.value() - 1 : Range::no_end};
      field(question.collective, ranks, bytes, found[i].selection, y);
    }
  }

  void field(Collective collective, const Range& ranks, const Range& bytes, const Selection& selection, int y) {
    const double x = bytes.least == 0 ? left : x_of(bytes.least);
    const double end = bytes.most == Range::no_end ? left + chart_width : x_of(bytes.most + 1);
    if (end <= x) return;
    const bool is_of_file = selection.is_users;
    const std::string use = to_text(selection.choice), gain = gain_text(selection.rule->measured);
    // The built-in rules may choose otherwise for other ranks of the row.
    const std::string told =
        is_of_file ? fmt::format("{} (line {}{}{})", use, selection.rule->line, gain.empty() ? "" : ": ", gain)
                   : "(built-in rules)";
    out_ += fmt::format("<g><title>{}, {} ranks, {} bytes: {}</title>", to_string(collective), range_text(ranks),
                        range_text(bytes), apps::xml_escaped(told));
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\" fill-opacity=\"{:.2f}\" "
        "stroke=\"#fff\"/>",
        x, y, end - x, row_height, is_of_file ? color_of(selection.choice) : "#e5e7eb",
        is_of_file ? opacity_of(selection.rule->measured) : 1.0);
    has_builtin_ = has_builtin_ || !is_of_file;
    has_margins_ = has_margins_ || (is_of_file && margin_of(selection.rule->measured) > 0);
    const bool is_dark = is_of_file && opacity_of(selection.rule->measured) > 0.75;
    if (is_of_file && static_cast<double>(use.size()) * letter_width + 8 < end - x)
      text(x + 4, y + 16, is_dark ? "use light" : "use", use);
    out_ += "</g>\n";
  }

  /// An algorithm has one colour in all charts.
  [[nodiscard]] std::string_view color_of(const Choice& choice) {
    const std::string name{choice.algorithm->name};
    legend_.insert(name);
    return colors[numbers_.try_emplace(name, numbers_.size()).first->second % std::size(colors)];
  }

  /// Returns where it ends.
  int legend(int y) {
    const int x = left + chart_width + 30;
    const auto entry = [&](std::string_view color, std::string_view name) {
      out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" fill=\"{}\"/>\n", x, y, color);
      text(x + 18, y + 10, "note", name);
      y += 17;
    };
    for (const std::string& name : legend_)
      entry(colors[numbers_.at(name) % std::size(colors)], name);
    if (has_builtin_) entry("#e5e7eb", "built-in rules");
    if (has_margins_) text(x, y + 10, "note", "darker: by a larger margin");
    return y + 17;
  }

  const SiteRules& site_;
  const Settings& settings_;
  std::string out_{};
  int y_ = 0;
  std::map<std::string, std::size_t> numbers_{};  ///< Of algorithms, in the order in which they come.
  std::set<std::string> legend_{};                ///< Those of the chart.
  bool has_builtin_ = false, has_margins_ = false;
};

std::vector<Collective> collectives_of(const SiteRules& site, const Settings& settings) {
  if (!settings.collective.empty()) return {read_collective(settings.collective)};
  std::vector<Collective> all;
  for (int i = 0; i < collective_count; ++i)
    if (!site.table.of(static_cast<Collective>(i)).empty()) all.push_back(static_cast<Collective>(i));
  return all;
}

}  // namespace

int plot_rules(const Arguments& arguments) {
  Settings settings;
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti rules plot",
      "Draws what a file of rules chooses: for each collective sizes across and ranks down, a colour for\n"
      "each algorithm, darker where its margin is larger. Grey: no rule of the file fits. `builtin` names\n"
      "the built-in rules."};
  options.argument("FILE", Takes::one, [&](std::string_view given) { settings.path = given; })
      .text("output", settings.output, "FILE", "the picture (SVG); without it, the output")
      .text("collective", settings.collective, "NAME", "only this one")
      .choice("memory", settings.memory, {"host", "tutti", "device"}, "where the buffers are")
      .integer("ppn", settings.ppn, 0, most_ranks, "ranks of each node; 0: all are on one")
      .integer("processors", settings.processors, 0, most_ranks,
               "processors of a node that all ranks share; 0: as many as the rules are for");
  if (is_told(options, arguments)) return apps::exit_success;
  const SiteRules site{load_rules(settings.path)};
  const std::string svg = RuleDrawing{site, settings}.svg(collectives_of(site, settings));
  if (settings.output.empty())
    apps::print(svg);
  else
    apps::replace_file(settings.output, svg);
  return apps::exit_success;
}

}  // namespace tutti::tool
