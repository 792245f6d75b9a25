// Whether a ratio of two ways can be believed, how much of a call computation hides, and the load of the machine.
#include <gmock/gmock.h>

#include <algorithm>

#include "apps/bench/load.hpp"
#include "apps/bench/overlap.hpp"
#include "apps/bench/statistics.hpp"

namespace tutti::bench {
namespace {

bool has(const Ratio& ratio, Doubt doubt) {
  return std::find(ratio.doubts.begin(), ratio.doubts.end(), doubt) != ratio.doubts.end();
}

TEST(Ratio, IsOfTheMediansWithTheMiddleHalfOfItsRounds) {
  const std::vector<double> first{1, 1, 1, 1, 1}, second{1.9, 2, 2.1, 1.2, 3};
  const Ratio ratio = ratio_of(first, second);
  EXPECT_DOUBLE_EQ(ratio.value, 2);
  EXPECT_DOUBLE_EQ(ratio.lower, 1.9);
  EXPECT_DOUBLE_EQ(ratio.upper, 2.1);
  EXPECT_TRUE(ratio.is_resolved());
}

TEST(Ratio, IsNotResolvedWhereRoundsDisagree) {
  const std::vector<double> first{1, 1, 1, 1, 1};
  EXPECT_TRUE(has(ratio_of(first, std::vector{0.9, 0.9, 1.1, 1.1, 1.2}), Doubt::both_sides));
  // On one side of 1, but anything between 1.1 and 3.
  const Ratio wide = ratio_of(first, std::vector{1.1, 1.1, 1.3, 3.0, 3.1});
  EXPECT_TRUE(has(wide, Doubt::wide_spread));
  EXPECT_FALSE(has(wide, Doubt::both_sides));
  EXPECT_TRUE(ratio_of(first, std::vector{1.9, 1.9, 2.0, 2.1, 9.0}).is_resolved()) << "one round is an exception";
}

TEST(Ratio, IsNotResolvedByFewRoundsNorUnderLoadNorIfItIsExtreme) {
  const std::vector<double> few{1, 1, 1, 1}, first{1, 1, 1, 1, 1};
  EXPECT_TRUE(has(ratio_of(few, std::vector<double>{2, 2, 2, 2}), Doubt::few_rounds));
  EXPECT_TRUE(has(ratio_of(first, std::vector<double>{2, 2, 2, 2, 2}, 0.5), Doubt::load));
  EXPECT_TRUE(ratio_of(first, std::vector<double>{2, 2, 2, 2, 2}, 0.05).is_resolved());
  const std::vector<double> longer(5, 29.5), shorter(5, 0.04);
  EXPECT_TRUE(has(ratio_of(first, longer), Doubt::extreme));
  EXPECT_TRUE(has(ratio_of(first, shorter), Doubt::extreme));
}

TEST(Overlap, IsTheShareOfTheCallThatComputationHides) {
  const std::vector<double> pure(5, 10e-6), compute(5, 12e-6);
  const auto percent = [&](double total) { return overlap_of(pure, compute, std::vector<double>(5, total)).percent; };
  EXPECT_NEAR(percent(22e-6), 0, 1e-9);
  EXPECT_NEAR(percent(12e-6), 100, 1e-9);
  EXPECT_NEAR(percent(14.5e-6), 75, 1e-9);
  EXPECT_EQ(percent(30e-6), 0) << "bounded";
  EXPECT_EQ(percent(11.9e-6), 100);
}

TEST(Overlap, IsNotResolvedInNoise) {
  const std::vector<double> pure(5, 10e-6), compute(5, 10e-6);
  EXPECT_TRUE(overlap_of(pure, compute, std::vector<double>(5, 15e-6)).is_resolved());
  EXPECT_THAT(overlap_of(pure, compute, std::vector<double>(5, 25e-6)).doubts, testing::ElementsAre(Doubt::extreme));
  EXPECT_THAT(overlap_of(pure, compute, std::vector{11e-6, 12e-6, 15e-6, 18e-6, 19e-6}).doubts,
              testing::ElementsAre(Doubt::wide_spread));
  EXPECT_THAT(overlap_of(std::span{pure}.first(2), compute, std::vector<double>(2, 15e-6)).doubts,
              testing::ElementsAre(Doubt::few_rounds));
}

TEST(Computation, HasStepsInProportionToItsTime) {
  const std::int64_t once = Computation{1e-3}.steps(), thrice = Computation{3e-3}.steps();
  EXPECT_GT(once, 0);
  EXPECT_NEAR(static_cast<double>(thrice), 3.0 * static_cast<double>(once), 3);
  EXPECT_EQ(Computation{0}.steps(), 0);
  EXPECT_EQ(Computation{-1}.steps(), 0);
}

TEST(Load, IsTheTimeOfProcessorsThatIsNotOurs) {
  const ProcessorTime time = processor_time("cpu  100 20 30 400 50 6 4 40 7 8", 100);
  EXPECT_DOUBLE_EQ(time.busy, 2) << "without idle, waiting for disks, and guests, which are part of user";
  EXPECT_DOUBLE_EQ(time.all, 6.5);
  EXPECT_DOUBLE_EQ(processor_time("", 100).all, 0);
  const ProcessorTime begin{.busy = 10, .all = 20};
  EXPECT_DOUBLE_EQ(share_of_others(begin, {.busy = 13, .all = 24}, 2.0).value(), 0.25);
  EXPECT_DOUBLE_EQ(share_of_others(begin, {.busy = 13, .all = 24}, 3.5).value(), 0) << "steps are counted roughly";
  EXPECT_FALSE(share_of_others(begin, {.busy = 10.1, .all = 20.1}, 0)) << "ten steps tell little";
}

}  // namespace
}  // namespace tutti::bench
