#pragma once
// Cases of every algorithm for proofs of compiled plans.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "lib/proof/plan_checker/plans.hpp"

namespace tutti::checker {

/// So small that few elements are enough for pieces, joint reductions, copies that are shared, and messages of any way.
inline constexpr shm::SharedMemory memory{.cell_bytes = 8, .piece_bytes = 24, .eager_messages = 3};
/// The same for plans of which programs for streams are made.
inline constexpr shm::SharedMemory on_devices{
    .cell_bytes = 8, .piece_bytes = 24, .joined_bytes = 0, .is_for_device = true, .eager_messages = 3};

/// Where ranks are: all on one node, or as in the lists, over and over again.
inline const std::vector<std::vector<int>> placements{{}, {0, 0, 0, 1}, {0, 0, 1, 1, 1}, {2, 2, 2, 1, 0}, {0, 1}};

inline std::vector<int> placed(const std::vector<int>& pattern, int ranks) {
  std::vector<int> nodes;
  if (pattern.empty()) return nodes;
  std::vector<int> numbers;  // in the order in which they come
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = pattern[static_cast<std::size_t>(rank) % pattern.size()] +
                     (pattern.size() > 2 ? 3 * (rank / static_cast<int>(pattern.size())) : 0);
    auto found = std::ranges::find(numbers, node);
    if (found == numbers.end()) found = numbers.insert(numbers.end(), node);
    nodes.push_back(static_cast<int>(found - numbers.begin()));
  }
  return nodes;
}

inline std::string text_of(const PlanCase& what) {
  return fmt::format("{} {}, {}, placed {}", to_string(what.choice.algorithm->collective), to_text(what.choice),
                     to_text(what.what), fmt::join(what.nodes, ","));
}

/// One case of an algorithm, chosen by `random` for this many ranks on these nodes.
inline PlanCase case_of(const Algorithm& algorithm, int ranks, const std::vector<int>& nodes, std::mt19937& random) {
  const auto one_of = [&](auto... values) {
    const std::array all{values...};
    return all[random() % all.size()];
  };
  PlanCase plan{.choice = {.algorithm = &algorithm, .parameter = algorithm.parameter.fallback}, .nodes = nodes};
  const Parameter& has = algorithm.parameter;
  if (!has.name.empty()) plan.choice.parameter = one_of(has.fallback, has.least, has.least + 1);
  plan.what.size = ranks;
  plan.what.parameter = plan.choice.parameter;
  if (algorithm.levels != Levels::ranks) plan.what.nodes = nodes;
  if (algorithm.collective == Collective::barrier) return plan;
  plan.what.count = Count{one_of(0, 1, 7, 12, 2 * ranks + 1)};
  plan.what.placement =
      one_of(Placement::separate, Placement::separate, Placement::in_place, Placement::in_place_on_even_ranks);
  if (has_root(algorithm.collective)) plan.what.root = Rank{static_cast<int>(random() % static_cast<unsigned>(ranks))};
  plan.choice.segment = one_of(0, 0, 0, 40);
  plan.what.segment = Count{plan.choice.segment / 8};
  return plan;
}

}  // namespace tutti::checker
