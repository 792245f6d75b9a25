// Runs of few messages, whose times were computed by hand.
#include <gtest/gtest.h>

#include <numeric>

#include "lib/proof/simulator/exports.hpp"
#include "lib/proof/simulator/sequence.hpp"
#include "simulated.hpp"

namespace tutti::simulator {
namespace {

constexpr Count thousand{1000};             // elements of 4 bytes:
constexpr double transfer = 4000 / 12.5e3;  // microseconds on a link

double time_of(const JoinedSchedules& joined, const Rates& rates, const Conditions& conditions = {}) {
  return microseconds(run(joined, rates, conditions).time);
}

void one_message(ScheduleBuilder& plan, Rank rank) {
  if (rank == Rank{0}) return plan.send(plan.input(), Rank{1});
  if (rank == Rank{1}) plan.recv(plan.output(), Rank{0});
}

void two_senders(ScheduleBuilder& plan, Rank rank) {
  if (rank != Rank{0}) return plan.send(plan.input(), Rank{0});
  plan.recv(plan.output(), Rank{1});
  plan.recv(plan.scratch(plan.output().count), Rank{2});
}

void there_and_back(ScheduleBuilder& plan, Rank rank) {
  const Rank other{1 - rank.value()};
  if (rank == Rank{0}) plan.send(plan.input(), other);
  plan.recv(plan.output(), other);
  if (rank == Rank{1}) plan.send(plan.output(), other);
}

/// Two messages, one after the other on both ranks.
void two_in_a_row(ScheduleBuilder& plan, Rank rank) {
  const Region half = plan.output().first(Count{500});
  for (int message = 0; message < 2; ++message)
    rank == Rank{0} ? plan.send(plan.input().first(half.count), Rank{1})
                    : plan.recv(message == 0 ? half : plan.scratch(half.count), Rank{0});
}

TEST(NetworkRun, AMessageTakesLatencyAndItsBytes) {
  EXPECT_NEAR(time_of(written(2, thousand, one_message), links_alone()), 1 + transfer, 1e-6);
}

TEST(NetworkRun, OverheadIsWorkAtBothEnds) {
  Rates rates = links_alone();
  rates.overhead = 0.25;
  EXPECT_NEAR(time_of(written(2, thousand, one_message), rates), 1 + transfer + 0.5, 1e-6);
}

TEST(NetworkRun, MessagesToOneHostShareItsLink) {
  const Outcome outcome = run(written(3, thousand, two_senders), links_alone());
  EXPECT_NEAR(microseconds(outcome.time), 1 + 2 * transfer, 1e-6);
  EXPECT_NEAR(outcome.contention(), 2, 1e-6);
}

TEST(NetworkRun, RendezvousWaitsForALateReceiverAndShakesHands) {
  Rates rates = links_alone();
  rates.handshake = 0.75;
  const JoinedSchedules joined = written(2, thousand, one_message);
  EXPECT_NEAR(time_of(joined, rates, {.late = {0, in_time(10)}}), 10 + 0.75 + 1 + transfer, 1e-6);
}

TEST(NetworkRun, AnEagerMessageDoesNotWait) {
  Rates rates = links_alone();
  rates.handshake = 0.75;
  rates.eager = 4000;
  const JoinedSchedules joined = written(2, thousand, one_message);
  const Outcome outcome = run(joined, rates, {.late = {0, in_time(10)}});
  EXPECT_NEAR(microseconds(outcome.time), 10, 1e-6);                      // it was there already
  EXPECT_EQ(outcome.end[static_cast<std::size_t>(joined.firsts[0])], 0);  // and its send complete at once
  EXPECT_NEAR(time_of(joined, rates, {.late = {in_time(10), 0}}), 10 + 1 + transfer, 1e-6);
}

TEST(NetworkRun, AnEagerSendFreesTheSenderAfterItsOverhead) {
  Rates rates = links_alone();
  rates.overhead = 0.25;
  rates.eager = 4000;
  const JoinedSchedules joined = written(2, thousand, two_in_a_row);
  const Outcome outcome = run(joined, rates);
  EXPECT_EQ(outcome.end[1], in_time(0.5));  // the second send
  // The second message leaves at 0.5 and is alone, as the first one had arrived: 0.25 + 1 + 0.16 + 0.25 < 0.5 + 1 + ...
  EXPECT_NEAR(microseconds(outcome.time), 0.5 + 1 + transfer / 2 + 0.25, 1e-6);
}

TEST(NetworkRun, MessagesLeaveAGapApart) {
  Rates rates = links_alone();
  rates.gap = 3;
  rates.eager = 4000;
  EXPECT_NEAR(time_of(written(2, thousand, two_in_a_row), rates), 3 + 1 + transfer / 2, 1e-6);
}

TEST(NetworkRun, AnsweringTakesTwoMessages) {
  EXPECT_NEAR(time_of(written(2, thousand, there_and_back), links_alone()), 2 * (1 + transfer), 1e-6);
}

TEST(NetworkRun, InsideAHostLevelsCount) {
  Rates rates = links_alone();
  rates.socket = {0.2, 20};
  rates.node = {0.4, 10};
  const JoinedSchedules joined = written(2, thousand, one_message);
  const auto topology = crossbar(2, rates.link);
  const auto time_on = [&](Placement placement, const Rates& given) {
    return microseconds(simulate(joined, Machine{*topology, std::move(placement), given}, {}).time);
  };
  EXPECT_NEAR(time_on({{0, 0}, {0, 0}}, rates), 0.2 + 4000 / 20e3, 1e-6);
  EXPECT_NEAR(time_on({{0, 0}, {0, 1}}, rates), 0.4 + 4000 / 10e3, 1e-6);
  rates.memory = 5;
  EXPECT_NEAR(time_on({{0, 0}, {0, 0}}, rates), 0.2 + 4000 / 5e3, 1e-6);
  rates.network = {0.5, 8};  // LogGP's G, and a latency beside those of the links
  EXPECT_NEAR(time_on({{0, 1}, {0, 1}}, rates), 1.5 + 4000 / 8e3, 1e-6);
}

TEST(NetworkRun, ReductionsOfARankFollowEachOther) {
  Rates rates = links_alone();
  rates.reduced = 1e-3;  // a microsecond for a thousand bytes
  const auto build = [](ScheduleBuilder& plan, Rank) {
    const Region half = plan.input().first(Count{500});
    plan.reduce(half, half, plan.output().first(half.count));
    plan.reduce(half, half, plan.scratch(half.count));
  };
  EXPECT_NEAR(time_of(written(1, thousand, build), rates), 4, 1e-6);
}

TEST(NetworkRun, NoiseIsTheSameForASeedAndOnlyLengthens) {
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "ring");
  const JoinedSchedules joined = joined_schedules(algorithm, problem_of(algorithm, 6, thousand));
  const Rates rates = links_alone();
  const double plain = time_of(joined, rates), noisy = time_of(joined, rates, {.noise = 0.5, .seed = 3});
  EXPECT_GT(noisy, plain);
  EXPECT_EQ(noisy, time_of(joined, rates, {.noise = 0.5, .seed = 3}));
  EXPECT_NE(noisy, time_of(joined, rates, {.noise = 0.5, .seed = 4}));
}

TEST(NetworkRun, ACallFollowsAnotherOnEachRank) {
  const Algorithm& algorithm = *find_algorithm(Collective::allreduce, "recursive_doubling");
  Problem problem = problem_of(algorithm, 8, thousand);
  JoinedSchedules once, thrice;
  for (int rank = 0; rank < problem.size; ++rank) {
    problem.rank = Rank{rank};
    const Schedule schedule = algorithm.build(problem);
    once.add(schedule);
    Sequence calls;
    for (int call = 0; call < 3; ++call)
      calls.add(schedule);
    thrice.add(calls.schedule());
  }
  EXPECT_NEAR(time_of(thrice, links_alone()), 3 * time_of(once, links_alone()), 1e-5);
}

TEST(NetworkRun, CanBeEndedByWhoLooksAtIt) {
  const Algorithm& algorithm = *find_algorithm(Collective::alltoall, "pairwise");
  const JoinedSchedules joined = joined_schedules(algorithm, problem_of(algorithm, 32, thousand));
  const auto topology = crossbar(32, {});
  const Machine machine{*topology, in_blocks(32), Rates{}};
  int looks = 0;
  static_cast<void>(simulate(joined, machine, {}, [&] { ++looks; }));
  EXPECT_GT(looks, 10);
  struct Enough {};
  EXPECT_THROW(static_cast<void>(simulate(joined, machine, {}, [&] { throw Enough{}; })), Enough);
}

TEST(NetworkRun, ALateStartIsNoMessageOfTheCriticalPath) {
  const JoinedSchedules joined = written(2, thousand, there_and_back);
  const auto topology = crossbar(2, {});
  const Machine machine{*topology, in_blocks(2), links_alone()};
  const Conditions conditions{.late = {0, in_time(50)}};
  const auto path = critical_path(joined, machine, conditions, simulate(joined, machine, conditions));
  ASSERT_EQ(path.size(), 3U);
  EXPECT_TRUE(path[0].is_start);
  EXPECT_EQ(joined.nodes[static_cast<std::size_t>(path[0].step)].rank, 1);
  EXPECT_EQ(path[0].end, in_time(50));
  EXPECT_FALSE(path[1].is_start || path[2].is_start);
}

TEST(NetworkRun, PartsOfTheCriticalPathAddUp) {
  Rates rates;
  rates.gap = 0.1;
  const auto topology = topology_of("dragonfly:2,1;2,1;2,1;2", 16, rates.link);
  const Conditions conditions{.late = std::vector<Time>(16, in_time(0.4)), .noise = 0.2};
  for (const Algorithm* algorithm : algorithms()) {
    for (const Count count : {Count{10}, Count{20'000}}) {
      const Problem problem =
          problem_of(*algorithm, 16, algorithm->collective == Collective::barrier ? Count{0} : count);
      const JoinedSchedules joined = joined_schedules(*algorithm, problem);
      const Machine machine{*topology, in_blocks(16), rates};
      const Outcome outcome = simulate(joined, machine, conditions);
      const auto path = critical_path(joined, machine, conditions, outcome);
      ASSERT_FALSE(path.empty());
      Time sum = 0, end = 0;
      for (const PathStep& step : path) {
        EXPECT_EQ(step.begin, end) << to_string(algorithm->collective) << ' ' << algorithm->name;
        end = step.end;
        sum += std::accumulate(step.parts.begin(), step.parts.end(), Time{0});
        for (const Time part : step.parts)
          EXPECT_GE(part, -1) << to_string(algorithm->collective) << ' ' << algorithm->name;
      }
      EXPECT_EQ(end, outcome.time);
      EXPECT_EQ(sum, outcome.time);
    }
  }
}

TEST(NetworkRun, GoalHasAllStepsAndWhatTheyWaitFor) {
  std::string text;
  const auto build = [](ScheduleBuilder& plan, Rank rank) {
    const Rank other{1 - rank.value()};
    plan.send(plan.input(), other);
    plan.recv(plan.output(), other);
    plan.reduce(plan.input(), plan.output(), plan.output());
  };
  Rates rates = links_alone();
  rates.reduced = 1e-3;
  write_goal(written(2, Count{2}, build), rates, 4, [&](std::string_view piece) { text += piece; });
  EXPECT_EQ(text,
            "num_ranks 2\n\n"
            "rank 0 {\nl0: send 8b to 1 tag 0\nl1: recv 8b from 1 tag 0\nl2: calc 8\nl2 requires l1\n}\n"
            "rank 1 {\nl0: send 8b to 0 tag 0\nl1: recv 8b from 0 tag 0\nl2: calc 8\nl2 requires l1\n}\n");
}

}  // namespace
}  // namespace tutti::simulator
