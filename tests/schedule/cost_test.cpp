// The simulation of one-ported ranks: known times, and rules that hold for every algorithm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "lib/core/schedule/passes.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/cost/simulate.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

constexpr Rates rounds{.message = 1};

using Build = void (*)(ScheduleBuilder& plan, Rank rank, int size);

/// The schedules of all ranks, whose buffers have `count` elements.
std::vector<Schedule> written(int size, Count count, Build build) {
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < size; ++rank) {
    ScheduleBuilder plan{{Rank{rank}, size, count}, count, count};
    build(plan, Rank{rank}, size);
    schedules.push_back(plan.build());
  }
  return schedules;
}

Simulation simulated(const std::vector<Schedule>& schedules, const Rates& rates) {
  Simulator simulator;
  for (const Schedule& schedule : schedules)
    simulator.add(schedule);
  return simulator.run(rates, true);
}

std::vector<Schedule> schedules_alone(const Algorithm& algorithm, const checker::Case& what) {
  std::vector<Schedule> schedules;
  for (checker::RankSchedule& own : checker::schedules_of(algorithm, what))
    schedules.push_back(std::move(own.schedule));
  return schedules;
}

double rounds_of(Collective collective, std::string_view name, int size, Count count) {
  return simulated(schedules_alone(*find_algorithm(collective, name), {.size = size, .count = count}), rounds).time;
}

void linear_broadcast(ScheduleBuilder& plan, Rank rank, int size) {
  if (rank != Rank{0}) return plan.recv(plan.output(), Rank{0});
  for (int peer = 1; peer < size; ++peer)
    plan.send(plan.input(), Rank{peer});
}

void linear_gather(ScheduleBuilder& plan, Rank rank, int size) {
  if (rank != Rank{0}) return plan.send(plan.input(), Rank{0});
  for (int peer = 1; peer < size; ++peer)
    plan.recv(plan.scratch(Count{10}), Rank{peer});
}

void chain(ScheduleBuilder& plan, Rank rank, int size) {
  if (rank != Rank{0}) plan.recv(plan.output(), Rank{rank.value() - 1});
  if (rank != Rank{size - 1}) plan.send(rank == Rank{0} ? plan.input() : plan.output(), Rank{rank.value() + 1});
}

TEST(Simulation, OfNothingTakesNoTime) {
  EXPECT_EQ(Simulator{}.run(rounds).time, 0);
  EXPECT_EQ(simulated(written(3, Count{10}, [](ScheduleBuilder&, Rank, int) {}), rounds).time, 0);
}

TEST(Simulation, OfOneMessageTakesAlphaAndBeta) {
  EXPECT_DOUBLE_EQ(simulated(written(2, Count{10}, linear_broadcast), {.message = 2, .sent = 0.5}).time, 7);
}

TEST(Simulation, RanksSendAndReceiveOneMessageAtATime) {
  for (const int size : {2, 3, 5, 16}) {
    EXPECT_EQ(simulated(written(size, Count{10}, linear_broadcast), rounds).time, size - 1);
    EXPECT_EQ(simulated(written(size, Count{10}, linear_gather), rounds).time, size - 1);
    EXPECT_EQ(simulated(written(size, Count{10}, chain), rounds).time, size - 1);
  }
}

TEST(Simulation, RanksSendWhileTheyReceive) {
  const auto exchange = [](ScheduleBuilder& plan, Rank rank, int) {
    plan.send(plan.input(), Rank{1 - rank.value()});
    plan.recv(plan.output(), Rank{1 - rank.value()});
  };
  EXPECT_EQ(simulated(written(2, Count{10}, exchange), rounds).time, 1);
}

TEST(Simulation, RanksComputeOneThingAtATime) {
  const auto compute = [](ScheduleBuilder& plan, Rank, int) {
    const Region into = plan.scratch(Count{10}), other = plan.scratch(Count{10});
    plan.reduce(plan.input(), plan.input(), into);
    plan.reduce(plan.input(), plan.input(), other);
    plan.copy(plan.input(), plan.output());
  };
  const std::vector<Schedule> schedules = written(2, Count{10}, compute);
  EXPECT_DOUBLE_EQ(simulated(schedules, {.reduced = 0.5, .copied = 0.25}).time, 12.5);
  EXPECT_EQ(simulated(schedules, rounds).time, 0);
}

TEST(Simulation, OfASegmentedChainIsAPipeline) {
  constexpr int size = 5, segments = 10;
  std::vector<Schedule> schedules = written(size, Count{segments}, chain);
  for (Schedule& schedule : schedules)
    schedule = segmented(schedule, Aliasing::separate(), Count{1});
  EXPECT_EQ(simulated(schedules, rounds).time, size - 2 + segments);
}

TEST(Simulation, FusedStepsTakeAsLong) {
  constexpr Rates rates{.message = 1, .sent = 0.25, .reduced = 0.5};
  checker::Case what{.size = 6, .count = Count{24}};
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  const double apart = simulated(schedules_alone(ring, what), rates).time;
  what.is_fused = true;
  EXPECT_DOUBLE_EQ(simulated(schedules_alone(ring, what), rates).time, apart);
  EXPECT_DOUBLE_EQ(apart, 2 * 5 * (1 + 0.25 * 4) + 5 * 0.5 * 4);
}

TEST(Simulation, CountsRoundsOfAlgorithms) {
  for (int size = 2; size <= 33; ++size)
    EXPECT_EQ(rounds_of(Collective::allreduce, "ring", size, Count{size}), 2 * (size - 1));
  for (unsigned size = 2; size <= 64; size *= 2) {
    const int core = static_cast<int>(size), doublings = std::countr_zero(size);
    EXPECT_EQ(rounds_of(Collective::allreduce, "recursive_doubling", core, Count{1}), doublings);
    EXPECT_EQ(rounds_of(Collective::allreduce, "rabenseifner", core, Count{core}), 2 * doublings);
  }
}

TEST(Simulation, OfManyRanksIsFast) {
  EXPECT_EQ(rounds_of(Collective::allreduce, "ring", 256, Count{256}), 510);
  EXPECT_EQ(rounds_of(Collective::allreduce, "recursive_doubling", 4096, Count{1}), 12);
}

TEST(Simulation, RefusesMessagesWithOneEnd) {
  const auto send = [](ScheduleBuilder& plan, Rank rank, int) {
    if (rank == Rank{0}) plan.send(plan.input(), Rank{1});
  };
  EXPECT_THROW((void)simulated(written(2, Count{1}, send), rounds), std::logic_error);
}

TEST(Simulation, RefusesRanksThatWaitForEachOther) {
  const auto wait = [](ScheduleBuilder& plan, Rank rank, int) {
    plan.recv(plan.output(), Rank{1 - rank.value()});
    plan.send(plan.output(), Rank{1 - rank.value()});
  };
  EXPECT_THROW((void)simulated(written(2, Count{1}, wait), rounds), std::logic_error);
}

/// The times of a rank's steps of a kind do not overlap, and none starts before the steps that it waits for are done.
void expect_one_at_a_time(const Schedule& schedule, const std::vector<Interval>& intervals) {
  std::vector<std::pair<double, double>> kinds[3];  // sends, receives, computations
  for (std::size_t step = 0; step < intervals.size(); ++step) {
    const auto& [begin, end] = intervals[step];
    kinds[std::min<std::size_t>(schedule.steps[step].action.index(), 2)].emplace_back(begin, end);
    for (const int before : schedule.steps[step].after)
      EXPECT_LE(intervals[static_cast<std::size_t>(before)].end, begin);
  }
  for (auto& kind : kinds) {
    std::ranges::sort(kind);
    for (std::size_t next = 1; next < kind.size(); ++next)
      EXPECT_LE(kind[next - 1].second, kind[next].first);
  }
}

class EveryAlgorithm : public testing::TestWithParam<const Algorithm*> {};

TEST_P(EveryAlgorithm, KeepsToItsPorts) {
  constexpr Rates rates{.message = 1, .sent = 0.125, .reduced = 0.25, .copied = 0.5};
  for (const int size : {1, 2, 5, 8}) {
    const std::vector<Schedule> schedules = schedules_alone(*GetParam(), {.size = size, .count = Count{2 * size + 3}});
    const Simulation simulation = simulated(schedules, rates);
    ASSERT_EQ(simulation.steps.size(), schedules.size());
    for (std::size_t rank = 0; rank < schedules.size(); ++rank)
      expect_one_at_a_time(schedules[rank], simulation.steps[rank]);
  }
}

TEST_P(EveryAlgorithm, TakesNoLessThanItsRoundsAndMessages) {
  for (const int size : {1, 2, 3, 7, 16}) {
    const checker::Case what{.size = size, .count = Count{2 * size + 3}};
    const checker::Verdict verdict = prove(*GetParam(), what);
    ASSERT_TRUE(verdict.proved()) << verdict.fault;
    const double time = simulated(schedules_alone(*GetParam(), what), rounds).time;
    double messages = 0;
    for (const Cost& cost : verdict.costs) {
      messages += cost.messages;
      EXPECT_GE(time, cost.messages);
      EXPECT_GE(time, cost.rounds);
    }
    EXPECT_LE(time, messages);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryAlgorithm, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) {
                           return std::string{to_string(algorithm.param->collective)} + "_" +
                                  std::string{algorithm.param->name};
                         });

}  // namespace
}  // namespace tutti
