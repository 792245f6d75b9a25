// Schedules backwards: a scatter becomes a gather, and the proof finds a reversal that is wrong.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/text.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/checker/suite.hpp"
#include "tutti/reversed.hpp"

namespace tutti::checker {
namespace {

/// The schedule as text, with the steps that each step waits for.
std::string whole_text(const Schedule& schedule) {
  std::string text = to_text(schedule);
  for (const Step& step : schedule.steps)
    text += fmt::format("after {}\n", fmt::join(step.after, ","));
  return text;
}

/// The schedules of an algorithm backwards.
RankSchedules backwards(RankSchedules schedules) {
  for (RankSchedule& own : schedules) {
    own.schedule = reversed(own.schedule);
    std::swap(own.input, own.output);
    if (const auto offset = own.aliasing.offset()) own.aliasing = Aliasing::around_output(*offset);
  }
  return schedules;
}

class Reversed : public testing::TestWithParam<const Algorithm*> {};

/// Paced steps and signals included.
TEST_P(Reversed, TwiceIsTheSame) {
  for (const int size : {1, 2, 3, 5, 8, 12}) {
    Case what{.size = size, .count = Count{2 * size + 3}, .root = Rank{size / 2}};
    if (GetParam()->collective == Collective::barrier) what.count = Count{0};
    mix_levels(what, *GetParam());
    for (const RankSchedule& own : schedules_of(*GetParam(), what))
      ASSERT_EQ(whole_text(reversed(reversed(own.schedule))), whole_text(own.schedule)) << to_text(what);
  }
}

std::vector<const Algorithm*> algorithms_where(bool (*wanted)(Collective)) {
  std::vector<const Algorithm*> found;
  std::ranges::copy_if(algorithms(), std::back_inserter(found),
                       [&](const Algorithm* algorithm) { return wanted(algorithm->collective); });
  return found;
}

const auto name_of = [](const auto& info) {
  return std::string{to_string(info.param->collective)} + "_" + std::string{info.param->name};
};

INSTANTIATE_TEST_SUITE_P(Registry, Reversed, testing::ValuesIn(algorithms_where([](Collective collective) {
                           return !reduces(collective);
                         })),
                         name_of);

class ReversedScatter : public testing::TestWithParam<const Algorithm*> {};

/// For all roots, placements and lists of blocks, whole and in segments: as many rounds, elements copied and scratch as
/// the scatter has, and as many messages and elements in all.
TEST_P(ReversedScatter, IsProvedAsAGather) {
  const Algorithm& scatter = *GetParam();
  Algorithm gather = scatter;
  gather.collective = Collective::gather;
  gather.exchange = nullptr;  // the scatter's ranks learn the same
  for (const Case& what : cases_of(scatter, Extent::subset)) {
    if (what.size > 17) continue;
    const Problems problems{gather, what}, opposite{scatter, what};
    RankSchedules schedules, pieces;
    for (Rank rank; rank.value() < what.size; rank = Rank{rank.value() + 1}) {
      Problem problem = problems.of(rank);
      problem.learned = opposite.of(rank).learned;
      const auto [input, output] = shape_of(problem);
      schedules.push_back({input, output, problem.aliasing, reversed(scatter, problem)});
      pieces.push_back(schedules.back());
      pieces.back().schedule = segmented(schedules.back().schedule, problem.aliasing, Count{2});
    }
    const Verdict verdict = prove(schedules, expectation_of(gather, problems));
    ASSERT_EQ(verdict.fault, "") << to_text(what);
    ASSERT_EQ(prove(pieces, expectation_of(gather, problems)).fault, "") << to_text(what) << ", in pieces";
    const Verdict before = prove(scatter, what);
    const Cost most = busiest(verdict.costs), most_before = busiest(before.costs);
    EXPECT_EQ(most.rounds, most_before.rounds) << to_text(what);
    EXPECT_EQ(most.copied, most_before.copied) << to_text(what);
    EXPECT_EQ(most.scratch, most_before.scratch) << to_text(what);
    Cost all, all_before;
    for (const Cost& cost : verdict.costs)
      all.messages += cost.messages, all.sent += cost.sent;
    for (const Cost& cost : before.costs)
      all_before.messages += cost.messages, all_before.sent += cost.sent;
    EXPECT_EQ(all, all_before) << to_text(what);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, ReversedScatter, testing::ValuesIn(algorithms_where([](Collective collective) {
                           return collective == Collective::scatter;
                         })),
                         name_of);

/// The schedules of a scatter backwards, and the result that they must leave.
struct Backwards {
  RankSchedules schedules;
  Expectation expectation;
  Backwards(std::string_view scatter, std::string_view gather, const Case& what)
      : schedules(backwards(schedules_of(*find_algorithm(Collective::scatter, scatter), what))) {
    const Algorithm& same = *find_algorithm(Collective::gather, gather);
    expectation = expectation_of(same, Problems{same, what});
  }
  [[nodiscard]] std::string fault() const { return prove(schedules, expectation).fault; }
};

Recv& receive(RankSchedule& own, std::size_t step) { return std::get<Recv>(own.schedule.steps[step].action); }

/// The scatter's first message of a pair is the gather's last.
TEST(ReversedDefect, MessagesNumberedAsBefore) {
  Backwards gather{"segmented", "segmented", {.size = 2, .count = Count{8}, .parameter = 2}};
  EXPECT_EQ(gather.fault(), "");
  std::swap(receive(gather.schedules[0], 1).message, receive(gather.schedules[0], 2).message);
  EXPECT_THAT(gather.fault(), testing::HasSubstr("rank 0, step 1 (recv output[12..16) from 1 (message 1))"));
}

TEST(ReversedDefect, MessagesInTheOrderOfBefore) {
  Backwards gather{"segmented", "segmented", {.size = 2, .count = Count{8}, .parameter = 2}};
  EXPECT_EQ(gather.fault(), "");
  std::swap(receive(gather.schedules[0], 1).into, receive(gather.schedules[0], 2).into);
  EXPECT_THAT(gather.fault(), testing::HasSubstr("rank 0: output[8] is r1[4], not element 0 of rank 1"));
}

TEST(ReversedDefect, DependenciesLost) {
  Backwards gather{"binomial", "binomial", {.size = 8, .count = Count{2}}};
  EXPECT_EQ(gather.fault(), "");
  for (Step& step : gather.schedules[4].schedule.steps)
    step.after.clear();
  EXPECT_THAT(gather.fault(), testing::HasSubstr("rank 4, step"));
}

TEST(ReversedDefect, CopiesNotTurnedRound) {
  Backwards gather{"linear", "linear", {.size = 2, .count = Count{2}}};
  EXPECT_EQ(gather.fault(), "");
  for (Step& step : gather.schedules[0].schedule.steps)
    if (auto* copy = std::get_if<Copy>(&step.action)) std::swap(copy->from, copy->into);
  EXPECT_THAT(gather.fault(), testing::HasSubstr("writes the input"));
}

/// Two children would write the same elements of the root.
TEST(Reversed, ABroadcastIsNoMoveBackwards) {
  const Algorithm& flat = *find_algorithm(Collective::broadcast, "knomial");
  const RankSchedules schedules = backwards(schedules_of(flat, {.size = 3, .count = Count{2}, .parameter = 3}));
  EXPECT_NE(prove(schedules, {Order::of_ranks, nullptr}).fault, "");
}

TEST(Reversed, AReductionIsRefused) {
  const Algorithm& chain = *find_algorithm(Collective::reduce, "chain");
  const Schedule schedule = schedules_of(chain, {.size = 2, .count = Count{2}})[0].schedule;
  EXPECT_THROW(std::ignore = reversed(schedule), std::logic_error);
  EXPECT_THROW(std::ignore = reversed(fused(schedule)), std::logic_error);
}

/// Signals order backwards the steps that they ordered before, and so do limits on the steps under way.
TEST(Reversed, WhatIsItsOwnOppositeStaysWhatItIs) {
  for (const Collective collective : {Collective::barrier, Collective::alltoall})
    for (const std::string_view name : {"dissemination", "two_level", "pairwise", "linear"})
      for (const int size : {2, 3, 7, 8}) {
        const Algorithm* algorithm = find_algorithm(collective, name);
        if (algorithm == nullptr) continue;
        Case what{.size = size, .count = Count{collective == Collective::barrier ? 0 : 3}, .parameter = 2};
        mix_levels(what, *algorithm);
        const Problems problems{*algorithm, what};
        const RankSchedules schedules = backwards(schedules_of(*algorithm, problems));
        EXPECT_EQ(prove(schedules, expectation_of(*algorithm, problems)).fault, "") << name << ", " << to_text(what);
      }
}

}  // namespace
}  // namespace tutti::checker
