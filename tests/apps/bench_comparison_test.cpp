// Two ways of a call at several sizes: which is faster, and from which size on.
#include <gmock/gmock.h>

#include <algorithm>

#include "apps/bench/load.hpp"
#include "apps/bench/overlap.hpp"
#include "apps/bench/thresholds.hpp"

namespace tutti::bench {
namespace {

/// The faster way at the sizes 1, 2, 3 and so on: '1', '2', or '-' if it is not clear.
std::vector<Comparison> sizes(std::string_view faster) {
  std::vector<Comparison> all;
  for (const char way : faster) {
    const Faster which = way == '1' ? Faster::first : way == '2' ? Faster::second : Faster::unclear;
    const auto at = static_cast<std::int64_t>(all.size()) + 1;
    all.push_back({.at = at,
                   .first_us = {},
                   .second_us = {},
                   .ratio = way == '1'   ? 4.0
                            : way == '2' ? 0.25
                                         : 1.0,
                   .faster = which});
  }
  return all;
}

std::string crossing(std::string_view faster) { return crossing_text(crossing_of(sizes(faster))); }

TEST(Comparison, HasTheTimesOfBothWays) {
  const std::vector<double> first{1e-6, 3e-6, 2e-6}, second{4e-6, 8e-6, 6e-6};
  const Comparison both = compared(64, first, second);
  EXPECT_EQ(both.at, 64);
  EXPECT_DOUBLE_EQ(both.first_us.median, 2);
  EXPECT_DOUBLE_EQ(both.second_us.max, 8);
  EXPECT_DOUBLE_EQ(both.ratio, 3);
  EXPECT_EQ(both.faster, Faster::first);
  EXPECT_EQ(compared(64, second, first).faster, Faster::second);
}

TEST(Comparison, IsUnclearWhereRoundsDiffer) {
  // Rounds belong together: all of them may take longer and longer, and one way still be faster in each.
  EXPECT_EQ(compared(1, std::vector<double>{1, 2, 4, 8}, std::vector<double>{1.1, 2.1, 4.1, 8.1}).faster,
            Faster::first);
  EXPECT_EQ(compared(1, std::vector<double>{1, 1, 1, 1}, std::vector<double>{0.9, 1.1, 0.9, 1.1}).faster,
            Faster::unclear);
  EXPECT_EQ(compared(1, std::vector<double>{1, 1, 1, 1}, std::vector<double>{1.2, 1.2, 1.2, 0.2}).faster, Faster::first)
      << "one round of four is an exception";
  EXPECT_EQ(compared(1, std::vector<double>{1, 1}, std::vector<double>{1, 1}).faster, Faster::unclear);
}

TEST(Comparison, IsUnclearWithFewRounds) {
  EXPECT_EQ(compared(1, std::vector<double>{1, 1}, std::vector<double>{9, 9}).faster, Faster::unclear);
  EXPECT_EQ(compared(1, std::vector<double>{1, 1, 1}, std::vector<double>{9, 9, 9}).faster, Faster::first);
}

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

TEST(Crossing, IsWhereTheSecondBeginsToStayFaster) {
  EXPECT_EQ(crossing("1122"), "2");
  EXPECT_EQ(crossing("1-22"), "2");
  EXPECT_EQ(crossing("112-2-"), "2");
  EXPECT_EQ(crossing("121222"), "3");
  EXPECT_EQ(crossing("--2"), "2");
}

TEST(Crossing, MayNotBeInTheRange) {
  EXPECT_EQ(crossing("1111"), "never");
  EXPECT_EQ(crossing("221"), "never");
  EXPECT_EQ(crossing("21--"), "never");
  EXPECT_EQ(crossing("2222"), "always");
  EXPECT_EQ(crossing("2-2-"), "always");
  EXPECT_EQ(crossing("----"), "no clear difference");
  EXPECT_EQ(crossing(""), "no clear difference");
}

TEST(Crossing, OfRulesForSoManyRanks) {
  EXPECT_EQ(ranks_text(crossing_of(sizes("11")), 8), "at least 8");
  EXPECT_EQ(ranks_text(crossing_of(sizes("22")), 8), "fewer than 8");
  EXPECT_EQ(ranks_text(crossing_of(sizes("12")), 8), "on 8, up to 1 bytes");
  EXPECT_EQ(ranks_text(crossing_of(sizes("--")), 8), "no clear difference");
}

TEST(BestValue, IsClearlyTheFastest) {
  std::vector<Comparison> values = sizes("1221");
  values[2].ratio = 0.125;
  EXPECT_EQ(best_value(values, 9), 3);
  EXPECT_EQ(best_value(sizes("1111"), 9), 9) << "today's";
  EXPECT_FALSE(best_value(sizes("1-11"), 9));
  EXPECT_FALSE(best_value({}, 9));
}

TEST(Sides, AreMeanRatios) {
  const Sides sides = sides_of(sizes("1122"), 2);
  EXPECT_DOUBLE_EQ(*sides.below, 4);
  EXPECT_DOUBLE_EQ(*sides.above, 0.25);
  EXPECT_FALSE(sides_of(sizes("11"), 2).above);
  EXPECT_FALSE(sides_of(sizes("11"), 0).below);
}

}  // namespace
}  // namespace tutti::bench
