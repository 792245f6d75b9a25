#include "catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tutti {
namespace {

constexpr int ranks = 8;
// For algorithms of several levels: nodes of 2 ranks, or of 4 on two sockets.
constexpr std::array nodes{0, 0, 1, 1, 2, 2, 3, 3}, large_nodes{0, 0, 0, 0, 1, 1, 1, 1};

/// "1.75 n"; for counts that all usual parts divide.
std::string in_counts(Count cost, Count count) {
  if (cost == Count{0}) return "0";
  const double times = static_cast<double>(cost.value()) / static_cast<double>(count.value());
  return fmt::format("{:.4g} n", times);
}

std::string row(const Algorithm& algorithm) {
  constexpr int divided_by_usual_parts = 2 * 2 * 2 * 2 * 2 * 2 * 3 * 5 * 7;
  Problem problem{Rank{0}, ranks, Count{divided_by_usual_parts * std::max(algorithm.parameter.fallback, 1)}};
  problem.collective = algorithm.collective;
  problem.parameter = algorithm.parameter.fallback;
  if (algorithm.levels == Levels::nodes) problem.nodes = nodes;
  if (algorithm.levels == Levels::sockets) problem.nodes = large_nodes, problem.sockets = nodes;
  const Cost cost = cost_of(algorithm, problem);
  return fmt::format("| {} | `{}` | {} | {} | {} | {} | {} | {} | {} |\n", to_string(algorithm.collective),
                     algorithm.name, parameter_of(algorithm), order_of(algorithm), cost.rounds,
                     in_counts(cost.sent, problem.count), in_counts(cost.scratch, problem.count), algorithm.summary,
                     algorithm.source);
}

}  // namespace

std::string_view order_of(const Algorithm& algorithm) {
  if (!reduces(algorithm.collective)) return "-";
  if (algorithm.bits == Bits::fixed) return "fixed";
  if (algorithm.order == Order::of_nodes) return "of nodes";
  return algorithm.order == Order::of_ranks ? "of ranks" : "any";
}

std::string parameter_of(const Algorithm& algorithm) {
  const Parameter& parameter = algorithm.parameter;
  return parameter.name.empty() ? "-" : fmt::format("{}={}", parameter.name, parameter.fallback);
}

std::string catalogue_table() {
  std::string table =
      "| collective | name | parameter | order | rounds | sent | scratch | summary | source |\n"
      "|---|---|---|---|---|---|---|---|---|\n";
  for (int collective = 0; collective < collective_count; ++collective)
    for (const Algorithm* algorithm : algorithms())
      if (algorithm->collective == static_cast<Collective>(collective)) table += row(*algorithm);
  return table;
}

}  // namespace tutti
