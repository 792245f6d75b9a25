// Other parts of the proof: barriers, the problems of the suite, several threads at once, stated costs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <set>
#include <string>
#include <thread>

#include "lib/proof/checker/prove.hpp"
#include "lib/proof/checker/suite.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::checker {
namespace {

using testing::StartsWith;

TEST(Signals, DisseminationBarrier) {
  for (int size = 1; size <= 17; ++size) {
    RankSchedules ranks;
    int rounds = 0;
    for (Rank rank; rank.value() < size; rank = Rank{rank.value() + 1}) {
      ScheduleBuilder plan{Problem{rank, size, Count{0}, {}}};
      rounds = 0;
      for (int distance = 1; distance < size; distance *= 2, ++rounds) {
        plan.signal(Rank{(rank.value() + distance) % size});
        plan.await(Rank{(rank.value() + size - distance) % size});
      }
      ranks.push_back({Count{0}, Count{0}, {}, plan.build()});
    }
    const Verdict verdict = prove(ranks, {.order = Order::any, .of = nullptr, .synchronizes = true});
    EXPECT_EQ(verdict.fault, "");
    for (const Cost& cost : verdict.costs)
      EXPECT_EQ(cost, (Cost{.messages = rounds, .rounds = rounds}));
  }
}

TEST(Signals, RoundTheRingOnceIsNoBarrier) {
  for (const int turns : {1, 2}) {
    constexpr int size = 4;
    RankSchedules ranks;
    for (Rank rank; rank.value() < size; rank = Rank{rank.value() + 1}) {
      ScheduleBuilder plan{Problem{rank, size, Count{0}, {}}};
      const Ring ring{rank, size};
      for (int turn = 0; turn < turns; ++turn) {
        if (rank == Rank{0}) plan.signal(ring.next());
        plan.await(ring.previous());
        if (rank != Rank{0}) plan.signal(ring.next());
      }
      ranks.push_back({Count{0}, Count{0}, {}, plan.build()});
    }
    const std::string fault = prove(ranks, {.order = Order::any, .of = nullptr, .synchronizes = true}).fault;
    EXPECT_EQ(fault, turns == 1 ? "rank 1 may leave before rank 2 has entered" : "");
  }
}

class Suite : public testing::TestWithParam<const Algorithm*> {};

TEST_P(Suite, HasEverySizeAndAllThatTheCollectiveHas) {
  const Algorithm& algorithm = *GetParam();
  std::set<int> sizes, roots, parameters;
  std::set<Placement> placements;
  bool uneven = false;
  for (const Case& what : cases_of(algorithm, Extent::all)) {
    sizes.insert(what.size), roots.insert(what.root.value()), parameters.insert(what.parameter);
    placements.insert(what.placement);
    uneven = uneven || (!what.counts.empty() && what.gap > Count{0});
  }
  for (int size = 1; size <= 64; ++size)
    EXPECT_TRUE(sizes.contains(size)) << size;
  for (const int size : {100, 127, 128, 129, 255, 256, 257})
    EXPECT_TRUE(sizes.contains(size)) << size;
  EXPECT_EQ(roots.size() > 1, has_root(algorithm.collective));
  EXPECT_EQ(parameters.size() > 1, !algorithm.parameter.name.empty());
  EXPECT_EQ(placements.size() == 3, algorithm.collective != Collective::barrier);
  using enum Collective;
  const std::set<Collective> with_blocks{reduce_scatter, allgather, gather, scatter, alltoall};
  EXPECT_EQ(uneven, with_blocks.contains(algorithm.collective));
}

INSTANTIATE_TEST_SUITE_P(Registry, Suite, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) {
                           return std::string{to_string(algorithm.param->collective)} + "_" +
                                  std::string{algorithm.param->name};
                         });

TEST(Proofs, RunOnSeveralThreads) {
  std::array<std::thread, 4> threads;
  std::atomic<int> failed = 0;
  for (std::thread& thread : threads)
    thread = std::thread([&failed] {
      for (const Algorithm* algorithm : algorithms())
        failed += prove(*algorithm, {.size = 6, .count = Count{algorithm->collective == Collective::barrier ? 0 : 12}})
                          .proved()
                      ? 0
                      : 1;
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(failed, 0);
}

TEST(Costs, AreComparedWithTheStatedOnes) {
  Algorithm algorithm = *algorithms().front();
  const Case what{.size = 3, .count = Count{6}};
  EXPECT_EQ(prove(algorithm, what).fault, "");
  algorithm.cost = [](const Problem&) { return Cost{}; };
  EXPECT_THAT(prove(algorithm, what).fault, StartsWith("the stated cost (messages 0,"));
}

}  // namespace
}  // namespace tutti::checker
