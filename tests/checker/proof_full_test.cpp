// Every registered algorithm is proved for all problems of the suite.
#include "tests/checker/proof_support.hpp"

namespace tutti::checker {
namespace {

class ProofOfManyRanks : public testing::TestWithParam<const Algorithm*> {};

TEST_P(ProofOfManyRanks, OfAll) {
  for (const Case& what : cases_of(*GetParam(), Extent::all))
    expect_proved(*GetParam(), what);
}

INSTANTIATE_TEST_SUITE_P(Registry, ProofOfManyRanks, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) { return name_of(*algorithm.param); });

}  // namespace
}  // namespace tutti::checker
