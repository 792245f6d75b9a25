// The costs of algorithms of several levels are exact on 2, 4 and 8 nodes of 1 to 64 ranks each.
#include "tests/schedule/levels_cost_support.hpp"

namespace tutti::checker {
namespace {

class CostOfManyLevels : public testing::TestWithParam<const Algorithm*> {};

TEST_P(CostOfManyLevels, IsExactOnEqualNodes) {
  for (const int nodes : {2, 4, 8})
    for (int ranks = 1; ranks <= 64; ++ranks)
      expect_exact(*GetParam(), nodes, ranks);
}

INSTANTIATE_TEST_SUITE_P(Registry, CostOfManyLevels, testing::ValuesIn(algorithms_of_levels()), name_of_algorithm);

}  // namespace
}  // namespace tutti::checker
