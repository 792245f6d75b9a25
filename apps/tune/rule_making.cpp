#include "apps/tune/rule_making.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <string>

#include "apps/bench/statistics.hpp"
#include "lib/core/selection/selection.hpp"
#include "tutti/environment.hpp"

namespace tutti::tune {
namespace {

/// So many, or up to half as many more, and down to a quarter fewer: what is measured for powers of two then covers all
/// numbers from 2 on, each once.
Range around(int number, bool is_exact) {
  if (is_exact || number < 3) return {number, number};
  return {(3 * number + 3) / 4, (3 * number + 1) / 2 - 1};
}

/// `is_builtin`: the built-in choice stays. For other numbers that may be another one, which nobody measured.
Conditions conditions_of(const Question& question, const RuleForm& form, bool is_builtin) {
  const bool is_exact = form.is_exact || is_builtin;
  Conditions when{
      .ranks = around(question.ranks, is_exact), .nodes = around(question.nodes, is_exact), .memory = question.memory};
  if (question.nodes > 1) when.ppn = around(question.ranks_per_node(), is_exact);
  if (form.has_modes) when.mode = question.manner;
  if (reduces(question.collective)) when.commutative = true;
  const bool has_lists =
      question.collective >= Collective::reduce_scatter && question.collective <= Collective::alltoall;
  if (has_lists) when.uneven = question.is_uneven;
  if (question.nodes == 1) {
    when.shares_memory = question.shares_memory;
    when.shares_processors = question.shares_processors;
  }
  if (question.memory == AssumedMemory::device) when.maps_devices = question.maps_devices;
  return when;
}

/// To four digits: more were not measured.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

/// The mean time of a way over the points that have it, as rules state it.
double mean_us(std::span<const Point* const> points, const auto& use_of) {
  std::vector<double> times;
  for (const Point* point : points)
    if (const Timed* const way = point->find(use_of(*point))) times.push_back(way->us);
  return bench::geometric_mean(times).value_or(0);
}

/// The way that is the fastest of the others at most of the points.
std::string runner_up(std::span<const Point* const> points) {
  std::map<std::string, int> wins;
  for (const Point* point : points) {
    const Timed* best = nullptr;
    for (const Timed& way : point->ways)
      if (way.use != point->use && way.use != point->builtin && way.use != mpi_way &&
          (best == nullptr || way.us < best->us))
        best = &way;
    if (best != nullptr) ++wins[best->use];
  }
  const auto most = std::max_element(wins.begin(), wins.end(), [](auto& a, auto& b) { return a.second < b.second; });
  return most == wins.end() ? "" : most->first;
}

Measured measured_at(std::span<const Point* const> points) {
  Measured measured;
  measured.us = mean_us(points, [](const Point& point) { return point.use; });
  measured.default_us = mean_us(points, [](const Point& point) { return point.builtin; });
  measured.mpi_us = mean_us(points, [](const Point&) { return std::string{mpi_way}; });
  measured.next = runner_up(points);
  if (!measured.next.empty()) {
    measured.next_us = mean_us(points, [&](const Point&) { return measured.next; });
  }
  for (const Point* point : points) {
    const Timed& way = *point->find(point->use);
    measured.runs += way.runs;
    measured.spread += (way.upper - way.lower) / way.us / static_cast<double>(points.size());
  }
  for (double* const figure :
       {&measured.us, &measured.default_us, &measured.mpi_us, &measured.next_us, &measured.spread})
    *figure = rounded(*figure);
  return measured;
}

/// What makes points belong to one rule.
struct Mark {
  bool is_builtin;
  std::string use;  ///< Empty: the built-in rules', which may change between two sizes.
  bool mpi_is_faster;
  friend bool operator==(const Mark&, const Mark&) = default;
};
Mark mark_of(const Point& point) {
  const Timed* const mpi = point.find(mpi_way);
  const bool is_builtin = point.use == point.builtin;
  // Only where the middle halves are apart: else chance would part a rule.
  return {is_builtin, is_builtin ? "" : point.use, mpi != nullptr && mpi->upper < point.find(point.use)->lower};
}

class RuleMaker {
 public:
  RuleMaker(const Question& question, const RuleForm& form) : question_(question), form_(form) {}

  /// The rules for sizes of the range, in which all points have the same mark.
  void add(std::span<const Point* const> points, const Range& bytes) {
    if (points.front()->use != points.front()->builtin) return add_rule(points.front()->use, points, bytes);
    const std::vector<SelectionFrom> rows = select_by_size(question_, {}, nullptr);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t end = i + 1 < rows.size() ? rows[i + 1].bytes.value() - 1 : Range::no_end;
      const Range its{std::max(bytes.least, rows[i].bytes.value()), std::min(bytes.most, end)};
      std::vector<const Point*> inside;
      for (const Point* point : points)
        if (its.contains(point->bytes)) inside.push_back(point);
      if (!inside.empty()) add_rule(to_text(rows[i].selection.choice), inside, its);
    }
  }
  void add_rule(const std::string& use, std::span<const Point* const> points, const Range& bytes) {
    Rule rule{.collective = question_.collective,
              .when = conditions_of(question_, form_, use == points.front()->builtin),
              .choice = read_choice(question_.collective, use)};
    rule.when.bytes = bytes;
    rule.measured = measured_at(points);
    rules.push_back(std::move(rule));
  }

  std::vector<Rule> rules{};

 private:
  const Question& question_;
  const RuleForm& form_;
};

/// One choice for all sizes: that with the least mean time, if it is as much faster as a choice for a size has to be.
std::string one_choice(std::span<const Point> points) {
  const auto mean_of = [&](const std::string& use) -> double {
    std::vector<double> times;
    for (const Point& point : points) {
      const Timed* const way = point.find(use);
      if (way == nullptr) return 0;
      times.push_back(way->us);
    }
    return *bench::geometric_mean(times);
  };
  const double builtin = mean_of(points.front().builtin);
  std::string best = points.front().builtin;
  double least = builtin / least_gain;
  for (const Timed& way : points.front().ways) {
    if (way.use == mpi_way) continue;
    const double us = mean_of(way.use);
    if (us > 0 && us < least) {
      least = us;
      best = way.use;
    }
  }
  return best;
}

std::vector<Rule> one_rule(const Question& question, std::span<const Point> points, const RuleForm& form) {
  RuleMaker maker{question, form};
  const std::string use = one_choice(points);
  std::vector<Point> taken{points.begin(), points.end()};
  std::vector<const Point*> all;
  for (Point& point : taken) {
    point.use = use;
    all.push_back(&point);
  }
  maker.add_rule(use, all, {});
  return maker.rules;
}

/// As a pattern that fits this text alone.
std::string literal(const std::string& text) {
  std::string pattern;
  for (const char letter : text) {
    if (std::string_view{"*?[\\"}.find(letter) != std::string_view::npos) pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

}  // namespace

std::vector<Rule> rules_of(const Question& question, std::span<const Point> points, const RuleForm& form) {
  if (points.empty()) return {};
  if (knows_no_bytes(question)) return one_rule(question, points, form);
  RuleMaker maker{question, form};
  std::int64_t from = 0;
  for (std::size_t first = 0; first < points.size();) {
    std::size_t end = first + 1;
    while (end < points.size() && mark_of(points[end]) == mark_of(points[first]))
      ++end;
    const bool is_last = end == points.size();
    const double border =
        is_last ? 0 : std::sqrt(static_cast<double>(points[end - 1].bytes) * static_cast<double>(points[end].bytes));
    const std::int64_t to = is_last ? std::max(2 * form.most, from) : static_cast<std::int64_t>(border);
    std::vector<const Point*> row;
    for (std::size_t i = first; i < end; ++i)
      row.push_back(&points[i]);
    maker.add(row, question.collective == Collective::barrier ? Range{} : Range{from, to});
    from = to + 1;
    first = end;
  }
  return maker.rules;
}

std::string own_version() { return std::string{components().front().description}; }

RuleFile file_for(const SiteFacts& site, const bench::Machine& machine, bool is_of_devices) {
  RuleFile file;
  const std::time_t now = std::time(nullptr);
  file.made = {{"by", fmt::format("tutti tune {}", own_version())},
               {"when", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
               {"hosts", fmt::format("{}", fmt::join(machine.hosts, ", "))},
               {"cpu", site.cpu},
               {"mpi", site.mpi},
               {"ranks", fmt::to_string(machine.ranks)},
               {"nodes", fmt::to_string(machine.nodes)},
               {"ppn", fmt::to_string(machine.most_ranks_per_node)},
               {"command", machine.command}};
  if (!site.network.empty()) file.made.emplace_back("network", site.network);
  if (!site.gpu.empty()) file.made.emplace_back("gpu", site.gpu);
  if (!site.cpu.empty()) file.machines.cpu = literal(site.cpu);
  file.machines.mpi = literal(site.mpi);
  if (is_of_devices && !site.gpu.empty()) file.machines.gpu = literal(site.gpu);
  file.is_simulated = is_of_devices && site.is_simulated;
  return file;
}

RuleFile without_hidden_rules(RuleFile file) {
  std::vector<Rule> kept;
  for (Rule& rule : file.rules)
    if (std::none_of(kept.begin(), kept.end(), [&](const Rule& earlier) { return earlier.hides(rule); }))
      kept.push_back(std::move(rule));
  file.rules = std::move(kept);
  return file;
}

int changes_in(std::span<const Point> points) {
  return static_cast<int>(
      std::count_if(points.begin(), points.end(), [](const Point& point) { return point.use != point.builtin; }));
}

double gain_of(std::span<const Point> points) {
  std::vector<double> gains;
  for (const Point& point : points)
    gains.push_back(point.find(point.builtin)->us / point.find(point.use)->us);
  return bench::geometric_mean(gains).value_or(1);
}

}  // namespace tutti::tune
