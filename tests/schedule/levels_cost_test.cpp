// The costs of algorithms of several levels are exact on equal nodes, and bounds on others. levels_cost_full_test has
// every number of ranks up to 64 a node.
#include "tests/schedule/levels_cost_support.hpp"

namespace tutti::checker {
namespace {

class CostOfLevels : public testing::TestWithParam<const Algorithm*> {};

TEST_P(CostOfLevels, IsExactOnEqualNodes) {
  for (const int nodes : {2, 4, 8})
    for (const int ranks : {1, 2, 3, 8, 9, 12, 16})
      expect_exact(*GetParam(), nodes, ranks);
  for (const int ranks : {24, 64})
    expect_exact(*GetParam(), 2, ranks);
}

/// The last node has fewer ranks, or they are dealt out by chance.
TEST_P(CostOfLevels, IsNoLessThanCountedOnOthers) {
  for (const int ranks : {2, 9, 17, 32})
    for (const int fewer : {1, ranks / 2, ranks - 1}) {
      std::vector<int> nodes = in_blocks(3, ranks), shuffled = nodes;
      nodes.resize(nodes.size() - static_cast<std::size_t>(fewer));
      for (std::size_t rank = 1; rank < shuffled.size(); ++rank)
        if (rank * rank % 7 < 3) shuffled[rank] = 0;
      for (const std::vector<int>& spread : {nodes, shuffled}) {
        const Case what = case_on(*GetParam(), spread);
        const auto [stated, counted] = costs_of(*GetParam(), what);
        EXPECT_LE(counted.messages, stated.messages) << to_text(what);
        EXPECT_LE(counted.rounds, stated.rounds) << to_text(what);
        EXPECT_LE(counted.sent, stated.sent) << to_text(what);
        EXPECT_LE(counted.reduced, stated.reduced) << to_text(what);
        EXPECT_LE(counted.copied, stated.copied) << to_text(what);
        EXPECT_LE(counted.scratch, stated.scratch) << to_text(what);
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, CostOfLevels, testing::ValuesIn(algorithms_of_levels()), name_of_algorithm);

/// Four nodes of 16, for which the stated cost was once a bound six times too high.
TEST(CostOfLanes, IsNoBoundOfManyRanks) {
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "lanes");
  const Case what = case_on(algorithm, in_blocks(4, 16));
  const Cost stated = algorithm.cost(even_problem(algorithm, what, Rank{0}));
  EXPECT_LT(stated.sent, 3 * what.count);
}

/// A cost that is one too high is refused where nodes are equal, and a bound where they are not.
TEST(Proof, WantsTheCostOfEqualNodesToBeExact) {
  Algorithm algorithm = *find_algorithm(Collective::allreduce, "lanes");
  algorithm.cost = [](const Problem& problem) {
    Cost cost = find_algorithm(Collective::allreduce, "lanes")->cost(problem);
    ++cost.messages;
    return cost;
  };
  EXPECT_EQ(prove(algorithm, case_on(algorithm, {0, 0, 0, 0, 1, 1})).fault, "");
  for (const std::vector<int>& nodes : {in_blocks(2, 4), in_turns(2, 4)})
    EXPECT_NE(prove(algorithm, case_on(algorithm, nodes)).fault, "");
}

}  // namespace
}  // namespace tutti::checker
