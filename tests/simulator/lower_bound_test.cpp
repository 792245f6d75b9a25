// Lower bounds: known ones, and no algorithm is faster.
#include <gtest/gtest.h>

#include "simulated.hpp"

namespace tutti::simulator {
namespace {

Bound bound_of(Collective collective, int ranks, Count count, const Topology& topology, const Rates& rates, int ppn = 1,
               const Conditions& conditions = {}) {
  Problem problem{Rank{0}, ranks, count};
  problem.collective = collective;
  return lower_bound(Machine{topology, in_blocks(ranks, ppn), rates}, problem, conditions);
}

constexpr Count million{1'000'000};  // elements: 4 MB, 320 microseconds on a link

TEST(LowerBound, OfAnAllreduceOnACrossbarIsTwiceTheVector) {
  const Rates rates = links_alone();
  const auto topology = crossbar(8, rates.link);
  const Bound bound = bound_of(Collective::allreduce, 8, million, *topology, rates);
  EXPECT_NEAR(microseconds(bound.time), 1 + 320 * 2 * 7.0 / 8, 1e-5);
  EXPECT_EQ(bound.reason, "the ports of ranks");
}

TEST(LowerBound, OfAnAlltoallIsTheCutOfGroups) {
  const Rates rates = links_alone();
  const auto topology = topology_of("dragonfly:4,1;1,1;4,1;2", 32, rates.link);
  const Bound bound = bound_of(Collective::alltoall, 32, Count{100'000}, *topology, rates);
  // 8 ranks send 24 blocks each over 3 links between groups, besides two latencies of hosts.
  EXPECT_NEAR(microseconds(bound.time), 1 + 32.0 * 8 * 24 / 3, 1e-4);
  EXPECT_EQ(bound.reason, "the links of groups");
}

TEST(LowerBound, OfFewBytesIsTheSpreadOfAMessage) {
  Rates rates = links_alone();
  rates.overhead = 1;
  const auto topology = crossbar(8, rates.link);
  // A message is there 3 after it began, and one can begin each 1: ranks know at 3, 4, 5, 6 (two: the first and the
  // second one's), 7 (two), ...
  EXPECT_EQ(bound_of(Collective::barrier, 8, Count{0}, *topology, rates).time, in_time(7));
  EXPECT_EQ(bound_of(Collective::barrier, 1, Count{0}, *topology, rates).time, 0);
}

TEST(LowerBound, OfALateRankIsItsStartAndAMessage) {
  const Rates rates = links_alone();
  const auto topology = crossbar(4, rates.link);
  const Conditions conditions{.late = {0, 0, in_time(50), 0}};
  EXPECT_EQ(bound_of(Collective::allreduce, 4, Count{1}, *topology, rates, 1, conditions).time, in_time(51));
}

/// Every algorithm of every collective, on nodes of `ppn` ranks.
void expect_no_algorithm_is_faster(std::string_view text, int ranks, int ppn, const Rates& rates) {
  const auto topology = topology_of(text, (ranks + ppn - 1) / ppn, rates.link);
  const Machine machine{*topology, in_blocks(ranks, ppn), rates};
  const std::vector<int> nodes = machine.nodes();
  for (const Algorithm* algorithm : algorithms()) {
    for (const Count count : {Count{1}, Count{5000}}) {
      Problem problem = problem_of(*algorithm, ranks, algorithm->collective == Collective::barrier ? Count{0} : count);
      problem.nodes = nodes;
      const Conditions conditions{.late = std::vector<Time>{in_time(0.1)}};
      Conditions late;
      late.late.assign(static_cast<std::size_t>(ranks), 0);
      late.late.back() = in_time(5);
      for (const Conditions& each : {Conditions{}, late}) {
        const Time time = simulate(joined_schedules(*algorithm, problem), machine, each).time;
        const Bound bound = lower_bound(machine, problem, each);
        EXPECT_GE(time + 1, bound.time) << text << ' ' << to_string(algorithm->collective) << ' ' << algorithm->name
                                        << ' ' << count.value() << ": " << bound.reason;
      }
    }
  }
}

TEST(LowerBound, NoAlgorithmIsFaster) {
  Rates rates;
  for (const std::string_view text : {"crossbar", "fat-tree:2;4,4;1,2;1,1", "torus:4,4", "dragonfly:2,1;2,1;2,1;2"}) {
    expect_no_algorithm_is_faster(text, 16, 1, rates);
    expect_no_algorithm_is_faster(text, 16, 1, links_alone());
    expect_no_algorithm_is_faster(text, 12, 3, rates);
  }
  rates.network = {0.1, 3};
  rates.memory = 10;
  expect_no_algorithm_is_faster("torus:2,2,2", 32, 4, rates);
}

}  // namespace
}  // namespace tutti::simulator
