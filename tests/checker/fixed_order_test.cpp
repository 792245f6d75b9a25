// The fixed order of operands, and operands that come together: which algorithms keep to it, and that the proof refuses
// those that do not.
#include <gmock/gmock.h>

#include "lib/proof/checker/prove.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::checker {
namespace {

Case case_of(const Algorithm& algorithm, int ranks) {
  Case what{.size = ranks, .count = Count{5}};
  what.parameter = algorithm.parameter.fallback;
  return what;
}

/// The fault of an algorithm that says it keeps the fixed order.
std::string fault_of_claim(Algorithm algorithm, int ranks) {
  algorithm.bits = Bits::fixed;
  algorithm.cost = nullptr;
  return prove(algorithm, case_of(algorithm, ranks)).fault;
}

TEST(FixedOrder, IsProvedOfThoseThatSaySoAlone) {
  int fixed = 0, others = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (!reduces(algorithm->collective)) continue;
    bool has_fault = false;
    for (int ranks = 2; ranks <= 9; ++ranks)
      has_fault = has_fault || !fault_of_claim(*algorithm, ranks).empty();
    EXPECT_EQ(has_fault, algorithm->bits != Bits::fixed) << to_string(algorithm->collective) << ' ' << algorithm->name;
    ++(has_fault ? others : fixed);
  }
  EXPECT_GE(fixed, 7);
  EXPECT_GE(others, 30);
}

TEST(FixedOrder, OfAnotherTreeIsNamed) {
  const Algorithm& one_shot = *find_algorithm(Collective::allreduce, "one_shot");
  EXPECT_EQ(fault_of_claim(one_shot, 3), "");
  EXPECT_THAT(fault_of_claim(one_shot, 4),
              testing::HasSubstr("output[0] is (((r0[0] (+) r1[0]) (+) r2[0]) (+) r3[0]), not in the fixed order: "
                                 "((r0[0] (+) r1[0]) (+) (r2[0] (+) r3[0]))"));
}

/// Roots, blocks and placements make no difference: every reduction that is asked for in fixed order has an algorithm
/// for few elements and for many.
TEST(FixedOrder, IsKeptForFewElementsAndForMany) {
  EXPECT_EQ(algorithm_names(Collective::allreduce, Bits::fixed), "recursive_doubling, rabenseifner");
  EXPECT_EQ(algorithm_names(Collective::reduce, Bits::fixed), "reduce_scatter_gather, binomial");
  EXPECT_EQ(algorithm_names(Collective::reduce_scatter, Bits::fixed), "recursive_halving");
  EXPECT_EQ(algorithm_names(Collective::scan, Bits::fixed), "linear, exchange");
  EXPECT_EQ(algorithm_names(Collective::exscan, Bits::fixed), "linear, exchange");
}

std::string fault_of_gathering(Algorithm algorithm, int ranks) {
  algorithm.gathers = true;
  algorithm.cost = nullptr;
  return prove(algorithm, case_of(algorithm, ranks)).fault;
}

/// Some algorithms happen to gather for a few ranks.
TEST(Gathering, IsProvedOfThoseThatSaySoAlone) {
  int gathering = 0, others = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (!reduces(algorithm->collective)) continue;
    bool has_fault = false;
    for (int ranks = 2; ranks <= 9; ++ranks)
      has_fault = has_fault || !fault_of_gathering(*algorithm, ranks).empty();
    EXPECT_EQ(has_fault, !algorithm->gathers) << to_string(algorithm->collective) << ' ' << algorithm->name;
    ++(has_fault ? others : gathering);
  }
  EXPECT_GE(gathering, 9);
  EXPECT_GE(others, 30);
}

TEST(Gathering, NamesTheOperandThatAnotherRankHasCombined) {
  EXPECT_THAT(fault_of_gathering(*find_algorithm(Collective::allreduce, "ring"), 3),
              testing::HasSubstr("combines a result of another rank: "));
}

TEST(Gathering, IsThereForEveryReduction) {
  EXPECT_EQ(algorithm_names(Collective::allreduce, true), "one_shot, two_shot, exchange");
  EXPECT_EQ(algorithm_names(Collective::reduce, true), "one_shot, exchange");
  EXPECT_EQ(algorithm_names(Collective::reduce_scatter, true), "one_shot, exchange");
  EXPECT_EQ(algorithm_names(Collective::scan, true), "exchange");
  EXPECT_EQ(algorithm_names(Collective::exscan, true), "exchange");
}

}  // namespace
}  // namespace tutti::checker
