#pragma once
// The costs that algorithms of several levels state, beside those counted in their schedules.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/proof/checker/problems.hpp"
#include "lib/proof/checker/prove.hpp"

namespace tutti::checker {

inline std::vector<const Algorithm*> algorithms_of_levels() {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->levels != Levels::ranks) found.push_back(algorithm);
  return found;
}

inline std::string name_of_algorithm(const testing::TestParamInfo<const Algorithm*>& algorithm) {
  return fmt::format("{}_{}", to_string(algorithm.param->collective), algorithm.param->name);
}

/// The group of each rank: groups of as many ranks, one after the other.
inline std::vector<int> in_blocks(int groups, int ranks) {
  std::vector<int> group_of;
  for (int group = 0; group < groups; ++group)
    group_of.insert(group_of.end(), static_cast<std::size_t>(ranks), group);
  return group_of;
}

/// Ranks in turn: 0, 1, 2, 0, 1, 2, ...
inline std::vector<int> in_turns(int groups, int ranks) {
  std::vector<int> group_of;
  for (int rank = 0; rank < groups * ranks; ++rank)
    group_of.push_back(rank % groups);
  return group_of;
}

struct Costs {
  Cost stated, counted;
};
inline Costs costs_of(const Algorithm& algorithm, const Case& what) {
  return {algorithm.cost(even_problem(algorithm, what, Rank{0})), counted(schedules_of(algorithm, what))};
}

inline std::string figures(const Cost& cost) {
  return fmt::format("{} messages, {} rounds, {} sent, {} reduced, {} copied, {} scratch", cost.messages, cost.rounds,
                     cost.sent.value(), cost.reduced.value(), cost.copied.value(), cost.scratch.value());
}

/// A case whose count all slices and blocks divide.
inline Case case_on(const Algorithm& algorithm, std::vector<int> nodes) {
  Case what{.size = static_cast<int>(nodes.size())};
  if (algorithm.collective != Collective::barrier) what.count = Count{what.size};
  what.nodes = std::move(nodes);
  return what;
}

/// Ways to spread so many ranks over each of some nodes, and each node's over sockets, and to choose the root. Of many
/// ranks, every eighth number is also dealt out in turn.
inline std::vector<Case> equal_cases(const Algorithm& algorithm, int nodes, int ranks) {
  std::vector<Case> cases{case_on(algorithm, in_blocks(nodes, ranks))};
  if (ranks <= 16 || ranks % 8 == 0) cases.push_back(case_on(algorithm, in_turns(nodes, ranks)));
  if (algorithm.levels == Levels::sockets)
    for (const int sockets : {2, 4})
      if (ranks % sockets == 0) {
        cases.push_back(cases.front());
        cases.back().sockets = in_blocks(nodes * sockets, ranks / sockets);
      }
  if (!has_root(algorithm.collective)) return cases;
  for (std::size_t i = 0, all = cases.size(); i < all; ++i) {
    cases.push_back(cases[i]);
    cases.back().root = Rank{nodes * ranks * 2 / 3};
  }
  return cases;
}

/// A row of the table, of which the stated and the counted cost are the same.
inline void expect_exact(const Algorithm& algorithm, int nodes, int ranks) {
  for (const Case& what : equal_cases(algorithm, nodes, ranks)) {
    const auto [stated, counted] = costs_of(algorithm, what);
    if (what.nodes == in_blocks(nodes, ranks) && what.root == Rank{0} && what.sockets.empty())
      fmt::print("{:<14} {:<12} {} nodes of {:>2}: stated  {}\n{:<43}counted {}\n", to_string(algorithm.collective),
                 algorithm.name, nodes, ranks, figures(stated), "", figures(counted));
    EXPECT_EQ(figures(stated), figures(counted)) << to_text(what);
  }
}

}  // namespace tutti::checker
