#include "apps/bench/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "apps/bench/statistics.hpp"
#include "apps/options.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/reduce/kernels.hpp"

namespace tutti::bench {
namespace {

using apps::Json;

/// Four digits: more are noise.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

/// Microseconds for a byte of `work`, which handles so many: the quickest of some runs.
template <class Work>
double per_byte(std::size_t bytes, const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr int runs = 20;
  double least = 0;
  for (int run = 0; run < runs; ++run) {
    const auto begin = Clock::now();
    work();
    const double time = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    least = run == 0 ? time : std::min(least, time);
  }
  return rounded(least / static_cast<double>(bytes));
}

/// The figures of a level: the links inside nodes, or those between nodes.
class Level {
 public:
  Level(const Pairs& pairs, bool between_nodes) : pairs_(pairs), between_nodes_(between_nodes) {}
  /// The figure that the quick quarter of the links reaches in the quick quarter of their rounds; 0: there are no
  /// links.
  [[nodiscard]] double quick(LinkFigure figure) const {
    std::vector<double> values = of_links(pairs_.of(figure).best);
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return quantile(values, figure == LinkFigure::latency ? 0.25 : 0.75);
  }
  [[nodiscard]] bool is_measured() const { return quick(LinkFigure::latency) > 0; }
  /// Why its figures may be those of a scheduler and not of the network.
  void doubt(std::vector<std::string>& doubts) const {
    constexpr double longest_inside = 50, longest_between = 500;  // microseconds of a short message
    if (!is_measured()) return;
    const char* const where = between_nodes_ ? "between nodes" : "inside nodes";
    for (const LinkFigure figure : link_figures) {
      const double least = std::min(quick(figure), usual(figure)), most = std::max(quick(figure), usual(figure));
      if (most > least * most_apart)
        doubts.push_back(fmt::format("the median {} {} is {:.3g} {}, the quick quarter {:.3g}", to_string(figure),
                                     where, usual(figure), unit_of(figure), quick(figure)));
    }
    if (const double latency = quick(LinkFigure::latency), most = between_nodes_ ? longest_between : longest_inside;
        latency > most)
      doubts.push_back(fmt::format("a latency of {:.3g} us {} is a scheduler's", latency, where));
  }

 private:
  static constexpr double most_apart = 1.5;
  [[nodiscard]] double usual(LinkFigure figure) const { return pairs_.usual(figure, between_nodes_); }
  [[nodiscard]] std::vector<double> of_links(const std::vector<double>& figures) const {
    std::vector<double> values;
    for (int from = 0; from < pairs_.ranks(); ++from)
      for (int to = 0; to < pairs_.ranks(); ++to)
        if (from != to && pairs_.is_between_nodes(from, to) == between_nodes_)
          values.push_back(figures[pairs_.at(from, to)]);
    return values;
  }

  const Pairs& pairs_;
  bool between_nodes_;
};

/// The work of a rank for each message, where it has many. A latency is left of every level.
double overhead_of(const Level& inside, const Level& between) {
  const double rate = (between.is_measured() ? between : inside).quick(LinkFigure::rate);
  double overhead = rate > 0 ? 1 / rate : 0;
  for (const Level* level : {&inside, &between})
    if (level->is_measured()) overhead = std::min(overhead, level->quick(LinkFigure::latency) / 3);
  return overhead;
}

std::vector<std::string> doubts_of(const Pairs& pairs, const Level& inside, const Level& between) {
  std::vector<std::string> doubts;
  if (pairs.rounds < static_cast<int>(least_rounds_for_ratio))
    doubts.push_back(fmt::format("{} rounds; needed: {}", pairs.rounds, least_rounds_for_ratio));
  inside.doubt(doubts), between.doubt(doubts);
  return doubts;
}

}  // namespace

std::string rates_text(const Machine& machine, const Pairs& pairs) {
  if (pairs.ranks() < 2) throw apps::InputError("--fit: one rank has no messages; needed: two ranks or more");
  const Level inside{pairs, false}, between{pairs, true};
  const double overhead = overhead_of(inside, between);
  // `links`: a way of so many of them has the latency.
  const auto level = [&](const Level& its, int links) {
    return Json{{"latency", rounded((its.quick(LinkFigure::latency) - 2 * overhead) / links)},
                {"bandwidth", rounded(its.quick(LinkFigure::bandwidth))}};
  };
  const std::vector<std::string> doubts = doubts_of(pairs, inside, between);
  for (const std::string& doubt : doubts)
    apps::print_error("tutti-bench: --fit: not resolved: {}\n", doubt);
  if (!doubts.empty())
    apps::print_error("tutti-bench: --fit: measure again, on processors that nobody else uses, with more --rounds\n");
  constexpr std::size_t count = std::size_t{1} << 18;
  std::vector<float> a(count, 1), b(count, 2), c(count);
  const std::size_t bytes = count * sizeof(float);
  const ReduceKernel add = reduce_kernel(Op::Kind::sum, Type::fp32);
  Json json{{"tutti_rates", 1},
            {"made", Json{{"when", machine.started},
                          {"hosts", machine.hosts},
                          {"mpi", machine.mpi},
                          {"command", machine.command},
                          {"resolved", doubts.empty()},
                          {"doubts", doubts}}},
            {"overhead", rounded(overhead)},
            {"reduced", per_byte(bytes, [&] { add(a.data(), b.data(), c.data(), count); })},
            {"copied", per_byte(bytes, [&] { std::memcpy(c.data(), a.data(), bytes); })}};
  if (inside.is_measured()) json.set("socket", level(inside, 1));
  if (inside.is_measured()) json.set("node", level(inside, 1));
  if (between.is_measured()) json.set("link", level(between, 2));
  return json.text(2) + '\n';
}

}  // namespace tutti::bench
