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

/// Two leaf switches of four hosts each, with a trunk between them, and a host with a link to each.
constexpr std::string_view two_leaves = R"({"tutti_topology": 1, "hosts": 9, "switches": 2, "links": [
  {"from": "host 0", "to": "switch 0"}, {"from": "host 1", "to": "switch 0"}, {"from": "host 2", "to": "switch 0"},
  {"from": "host 3", "to": "switch 0"}, {"from": "host 4", "to": "switch 1"}, {"from": "host 5", "to": "switch 1"},
  {"from": "host 6", "to": "switch 1"}, {"from": "host 7", "to": "switch 1"}, {"from": "host 8", "to": "switch 0"},
  {"from": "host 8", "to": "switch 1"}, {"from": "switch 0", "to": "switch 1", "kind": "trunk", "bandwidth": 5}]})";

TEST(LowerBound, OfAFileKnowsLeafSwitches) {
  const Rates rates = links_alone();
  const auto topology = topology_of_file(two_leaves, "net.json", rates.link);
  const std::vector<Partition> partitions = topology->partitions();
  ASSERT_EQ(partitions.size(), 1U);
  EXPECT_EQ(partitions[0].name, "leaf switches");
  EXPECT_EQ(partitions[0].group_of, (std::vector{0, 0, 0, 0, 1, 1, 1, 1, 2, 0, 1}));
  // 4 ranks send 4 blocks of 400 kB each over the trunk, and over the link to the host of both switches.
  const Bound bound = bound_of(Collective::alltoall, 8, Count{100'000}, *topology, rates);
  EXPECT_NEAR(microseconds(bound.time), 1 + 4 * 4 * 400 / (5 + 12.5), 1e-4);
  EXPECT_EQ(bound.reason, "the links of leaf switches");
}

/// Every algorithm of every collective, on nodes of `ppn` ranks.
void expect_no_algorithm_is_faster(std::string_view text, int ranks, int ppn, const Rates& rates) {
  const auto topology = text.starts_with('{') ? topology_of_file(text, "net.json", rates.link)
                                              : topology_of(text, (ranks + ppn - 1) / ppn, rates.link);
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

TEST(LowerBound, KnowsSocketsWithoutALimit) {
  Rates rates;
  rates.node.bandwidth = 0;
  const auto topology = crossbar(1, rates.link);
  const Machine machine{*topology, {{0, 0}, {0, 1}}, rates};
  const Algorithm& ring = *find_algorithm(Collective::allgather, "ring");
  const Problem problem = problem_of(ring, 2, Count{1 << 23});
  EXPECT_GE(simulate(joined_schedules(ring, problem), machine, {}).time + 1, lower_bound(machine, problem, {}).time);
}

TEST(LowerBound, KnowsBothDirectionsOfLinks) {
  const auto topology = topology_of_file(
      R"({"tutti_topology": 1, "hosts": ["a", "b"], "switches": ["s"], "links": [{"from": "a", "to": "s"},
          {"from": "b", "to": "s", "bandwidth": 0.1, "one_way": true},
          {"from": "s", "to": "b", "bandwidth": 100, "one_way": true}]})",
      "FILE", {});
  const Machine machine{*topology, in_blocks(2), {}};
  const Algorithm& tree = *find_algorithm(Collective::broadcast, "knomial");
  const Problem problem = problem_of(tree, 2, Count{1 << 18});
  const Time bound = lower_bound(machine, problem, {}).time;
  EXPECT_GE(simulate(joined_schedules(tree, problem), machine, {}).time + 1, bound);
  EXPECT_GT(bound, in_time(80));  // 1 MiB at 12.5 GB/s
}

TEST(LowerBound, NoAlgorithmIsFaster) {
  Rates rates;
  for (const std::string_view text : {"crossbar", "fat-tree:2;4,4;1,2;1,1", "torus:4,4", "dragonfly:2,1;2,1;2,1;2"}) {
    expect_no_algorithm_is_faster(text, 16, 1, rates);
    expect_no_algorithm_is_faster(text, 16, 1, links_alone());
    expect_no_algorithm_is_faster(text, 12, 3, rates);
  }
  for (const int ranks : {8, 9}) {
    expect_no_algorithm_is_faster(two_leaves, ranks, 1, rates);
    expect_no_algorithm_is_faster(two_leaves, ranks, 1, links_alone());
  }
  rates.network = {0.1, 3};
  rates.memory = 10;
  expect_no_algorithm_is_faster("torus:2,2,2", 32, 4, rates);
}

}  // namespace
}  // namespace tutti::simulator
