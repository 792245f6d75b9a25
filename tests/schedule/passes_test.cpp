// Schedules are proved again after every pass.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/text.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/checker/races.hpp"
#include "lib/proof/checker/suite.hpp"

namespace tutti::checker {
namespace {

class Passes : public testing::TestWithParam<const Algorithm*> {};

/// Cuts of one element, of sizes that leave a remainder, and larger than everything.
TEST_P(Passes, SegmentedAndFusedSchedulesAreProved) {
  const Algorithm& algorithm = *GetParam();
  for (const int size : {1, 2, 3, 4, 5, 7, 8, 12, 17})
    for (const int count : {1, 7, 2 * size + 3})
      for (const int segment : {0, 1, 2, 3, 1000})
        for (const Placement placement :
             {Placement::separate, Placement::in_place, Placement::in_place_on_even_ranks}) {
          const Case what{.size = size,
                          .count = Count{count},
                          .placement = placement,
                          .root = Rank{size / 2},
                          .segment = Count{segment},
                          .is_fused = true};
          ASSERT_EQ(prove(algorithm, what).fault, "") << to_text(what);
        }
}

/// Messages are also cut into few pieces, whose sizes then differ from message to message.
TEST_P(Passes, SegmentedSchedulesOfBlocksThatDifferAreProved) {
  const Algorithm& algorithm = *GetParam();
  for (Case what : cases_of(algorithm, Extent::subset)) {
    if (what.counts.empty() || what.size > 9) continue;
    what.segment = Count{2};
    what.is_fused = true;
    ASSERT_EQ(prove(algorithm, what).fault, "") << to_text(what);
    const Problems problems{algorithm, what};
    RankSchedules schedules = schedules_of(algorithm, problems);
    for (RankSchedule& own : schedules)
      own.schedule = segmented(own.schedule, own.aliasing, Count{1}, 2);
    ASSERT_EQ(prove(schedules, expectation_of(algorithm, problems)).fault, "") << to_text(what) << ", in two pieces";
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Passes, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& info) {
                           return std::string{to_string(info.param->collective)} + "_" + std::string{info.param->name};
                         });

RankSchedule ring_schedule(Rank rank, int size, Count count) {
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  return schedules_of(ring, {.size = size, .count = count})[static_cast<std::size_t>(rank.value())];
}

int count_of(const Schedule& schedule, auto wanted) {
  int found = 0;
  for (const Step& step : schedule.steps)
    found += wanted(step.action) ? 1 : 0;
  return found;
}

TEST(Segmented, PassesOnPieceByPiece) {
  const RankSchedule own = ring_schedule(Rank{0}, 3, Count{12});  // blocks of 4
  const Schedule cut = segmented(own.schedule, own.aliasing, Count{2});
  const auto sends = [](const Action& action) { return std::holds_alternative<Send>(action); };
  EXPECT_EQ(count_of(cut, sends), 2 * count_of(own.schedule, sends));
  // The second round's first piece waits for the reduction of the first pieces only.
  EXPECT_THAT(to_text(cut), testing::HasSubstr("send output[4..6) to 1 (message 2)"));
  for (const auto& [action, after] : cut.steps)
    if (const auto* send = std::get_if<Send>(&action); send != nullptr && send->message == 2) {
      ASSERT_EQ(after.size(), 1U);
      EXPECT_EQ(to_text(cut.steps[static_cast<std::size_t>(after[0])].action),
                "reduce output[4..6) = scratch[0..2) (+) input[4..6)");
    }
}

TEST(Segmented, HasNoMorePiecesOfAMessageThanAsked) {
  const RankSchedule own = ring_schedule(Rank{0}, 3, Count{30});  // blocks of 10
  const auto sends = [](const Action& action) { return std::holds_alternative<Send>(action); };
  const Schedule cut = segmented(own.schedule, own.aliasing, Count{1}, 3);
  EXPECT_EQ(count_of(cut, sends), 3 * count_of(own.schedule, sends));
  EXPECT_THAT(to_text(cut), testing::HasSubstr("send input[20..24) to 1\n"));
  EXPECT_THAT(to_text(cut), testing::HasSubstr("send input[28..30) to 1 (message 2)"));
}

/// The sender does not know how many segments the root has in all: both cut the message by its size alone.
TEST(Segmented, WhereRanksKnowTheirOwnBlocksTheLimitIsThatOfAMessage) {
  constexpr int size = 2;
  const Algorithm& linear = *find_algorithm(Collective::gather, "linear");
  const Case what{.size = size, .counts = {Count{10}, Count{3 * most_segments}}};
  const Problems problems{linear, what};
  const RankSchedules schedules =
      schedules_of(linear, problems, {.size = size, .counts = what.counts, .segment = Count{1}});
  const auto recvs = [](const Action& action) { return std::holds_alternative<Recv>(action); };
  const auto sends = [](const Action& action) { return std::holds_alternative<Send>(action); };
  EXPECT_EQ(count_of(schedules[0].schedule, recvs), most_segments / size);
  EXPECT_EQ(count_of(schedules[1].schedule, sends), most_segments / size);
}

/// One exchange at a time, also of segments; without a dependency for each pair of them.
TEST(Segmented, WhatIsPacedWaitsForAllSegmentsBefore) {
  constexpr int segments = 5;
  const Algorithm& pairwise = *find_algorithm(Collective::alltoall, "pairwise");
  for (const int size : {3, 4, 7}) {
    const RankSchedule own = schedules_of(pairwise, {.size = size, .count = Count{segments}})[0];
    const Schedule cut = segmented(own.schedule, own.aliasing, Count{1});
    LocalOrder order{cut};
    std::vector<std::vector<int>> exchanges;  // the messages of each
    for (int step = 0; const Step& each : cut.steps) {
      const auto* send = std::get_if<Send>(&each.action);
      if (send != nullptr && send->message == 0) exchanges.emplace_back();
      if (!std::holds_alternative<Copy>(each.action)) exchanges.back().push_back(step);
      EXPECT_LE(each.after.size(), 2 * segments) << "once, before each exchange";
      ++step;
    }
    ASSERT_EQ(exchanges.size(), size - 1);
    for (std::size_t i = 1; i < exchanges.size(); ++i)
      for (const int later : exchanges[i])
        for (const int earlier : exchanges[i - 1])
          ASSERT_TRUE(order.ordered(earlier, later)) << earlier << ", " << later << ", p = " << size;
  }
}

TEST(Fused, JoinsTheReductionsOfARing) {
  const RankSchedule own = ring_schedule(Rank{1}, 4, Count{8});
  const Schedule joined = fused(own.schedule);
  EXPECT_EQ(count_of(joined, [](const Action& action) { return std::holds_alternative<Reduce>(action); }), 0);
  const auto is_joined = [](const Action& action) {
    const auto* recv = std::get_if<Recv>(&action);
    return recv != nullptr && recv->then.has_value();
  };
  EXPECT_EQ(count_of(joined, is_joined), 3);
  EXPECT_THAT(to_text(joined),
              testing::HasSubstr("recv scratch[0..2) from 0, reduce output[6..8) = scratch[0..2) (+) input[6..8)"));
}

/// The ranks that receive first would wait for each other's sends, which the reductions have to follow.
TEST(Fused, LeavesReductionsThatWaitForMore) {
  const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  const RankSchedules schedules =
      schedules_of(doubling, {.size = 4, .count = Count{3}, .placement = Placement::in_place});
  const Schedule joined = fused(schedules[0].schedule);
  EXPECT_EQ(to_text(joined), to_text(schedules[0].schedule));
}

TEST(Fused, ContentsOfTheLandingAreLost) {
  const Region in{Buffer::input, Count{0}, Count{1}}, out = in.in(Buffer::output), landing = in.in(Buffer::scratch);
  const auto part = [&](int peer, Reduce reduce) {
    const Recv recv{Rank{peer}, {landing}, 0, reduce};
    return RankSchedule{Count{1}, Count{1}, {}, {{{Send{Rank{peer}, {in}}, {}}, {recv, {}}}, Count{1}}};
  };
  RankSchedules schedules{part(1, {in, landing, out}), part(0, {landing, in, out})};
  EXPECT_EQ(prove(schedules, {Order::of_ranks, [](Rank, Count i) { return Combination{Rank{0}, 2, i}; }}).fault, "");
  schedules[0].schedule.steps.push_back({Copy{landing, out}, {1}});
  EXPECT_THAT(prove(schedules, {}).fault, testing::HasSubstr("reads garbage from scratch[0..1)"));
}

TEST(Mapped, AGroupPlaysItsOwnCommunicator) {
  const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  const Group group{{Rank{5}, Rank{1}, Rank{2}}, 0};
  const RankSchedules small = schedules_of(doubling, {.size = 3, .count = Count{4}});
  RankSchedules schedules(7);
  for (int place = 0; place < group.size(); ++place) {
    RankSchedule& own = schedules[static_cast<std::size_t>(group.at(place).value())];
    own = small[static_cast<std::size_t>(place)];
    own.schedule = mapped(own.schedule, group);
  }
  // In the order of the group: no rank order over all.
  const auto of = [](Rank, Count i) { return Combination{Rank{0}, 3, i}; };
  const Verdict verdict = prove(schedules, {Order::any, nullptr});
  EXPECT_EQ(verdict.fault, "");
  EXPECT_THAT(prove(schedules, {Order::of_ranks, of}).fault,
              testing::HasSubstr("rank 1: output[0] is ((r5[0] (+) r1[0]) (+) r2[0])"));
}

}  // namespace
}  // namespace tutti::checker
