// The engine on a network inside the process: every algorithm, every rank count, any order of messages.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "lib/core/plan/compile.hpp"
#include "lib/core/schedule/pack_messages.hpp"
#include "tests/engine/engine_jobs.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

using namespace test;

TEST(Engine, EveryAllreduceInAnyOrderOfMessages) {
  for (const Algorithm* algorithm : allreduces())
    for (int size = 1; size <= 9; ++size)
      for (const Count count : {Count{0}, Count{1}, Count{size}, Count{29}})
        for (const Aliasing aliasing : {Aliasing::separate(), Aliasing::in_place()})
          for (const int window : {1, 2, 1024}) {
            const std::int64_t segment = window == 2 ? 12 : 0;
            const auto plans = plans_of(*algorithm, size, count, aliasing, window, Op::sum, segment);
            Job job{plans, count, aliasing, static_cast<unsigned>(size * 31 + window)};
            ASSERT_TRUE(job.run()) << algorithm->name << " p=" << size << " is stuck";
            for (const Values& output : job.outputs())
              ASSERT_EQ(output, sum_of_ranks(size, count)) << algorithm->name << " p=" << size;
          }
}

TEST(Engine, RunsAgainWithOtherData) {
  const auto plans = plans_of(*find_algorithm(Collective::allreduce, "ring"), 5, Count{29}, Aliasing::separate(), 4);
  Job job{plans, Count{29}, Aliasing::separate(), 7};
  ASSERT_TRUE(job.run());
  for (Values& input : job.inputs())
    input.assign(29, 3);
  ASSERT_TRUE(job.run());
  for (const Values& output : job.outputs())
    EXPECT_EQ(output, Values(29, 15));
}

TEST(Engine, SendsAsManyMessagesAsTheAlgorithmSays) {
  for (const Algorithm* algorithm : allreduces()) {
    const Count count{64};
    const auto plans = plans_of(*algorithm, 6, count, Aliasing::separate(), 1024);
    int messages = 0;
    for (const CompiledPlan& plan : plans)
      messages += plan.sends;
    Job job{plans, count, Aliasing::separate(), 3};
    ASSERT_TRUE(job.run());
    EXPECT_EQ(job.messages(), messages) << algorithm->name;
  }
}

/// lhs - 2 * rhs: neither commutative nor, though operations must be, associative; it shows the operands of each call.
void subtract(const void* lhs, const void* rhs, void* into, Count count, void* context) {
  ++*static_cast<int*>(context);
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<std::int32_t*>(into)[i] =
        static_cast<const std::int32_t*>(lhs)[i] - 2 * static_cast<const std::int32_t*>(rhs)[i];
}

TEST(Engine, CallsAUsersFunctionWithOperandsInRankOrder) {
  int calls = 0;
  const Op op = Op::user(subtract, Commutative::no, &calls);
  const auto plans =
      plans_of(*find_algorithm(Collective::allreduce, "recursive_doubling"), 4, Count{3}, Aliasing::separate(), 4, op);
  Job job{plans, Count{3}, Aliasing::separate(), 5};
  ASSERT_TRUE(job.run());
  const auto value = [](int rank, int i) { return 1000 * rank + i; };
  for (const Values& output : job.outputs())
    for (int i = 0; i < 3; ++i) {
      const int low = value(0, i) - 2 * value(1, i), high = value(2, i) - 2 * value(3, i);
      EXPECT_EQ(output[static_cast<std::size_t>(i)], low - 2 * high);
    }
  EXPECT_EQ(calls, 4 * 2);
}

TEST(Engine, FinishesAveragesAfterTheLastStep) {
  const auto plans =
      plans_of(*find_algorithm(Collective::allreduce, "ring"), 3, Count{8}, Aliasing::in_place(), 4, Op::avg);
  Job job{plans, Count{8}, Aliasing::in_place(), 5};
  ASSERT_TRUE(job.run());
  for (const Values& output : job.outputs())
    for (std::int32_t i = 0; i < 8; ++i)
      EXPECT_EQ(output[static_cast<std::size_t>(i)], (3000 + 3 * i) / 3);
}

TEST(Engine, StartsChainsInOrderAndOthersFromAQueue) {
  const auto doubling =
      plans_of(*find_algorithm(Collective::allreduce, "recursive_doubling"), 8, Count{64}, Aliasing::separate(), 1024);
  EXPECT_TRUE(doubling[3].in_order);
  // The receives of a ring's allgather wait for nothing: in order they would be posted late.
  const auto ring = plans_of(*find_algorithm(Collective::allreduce, "ring"), 8, Count{64}, Aliasing::separate(), 1024);
  EXPECT_FALSE(ring[3].in_order);
}

/// Rank 0 sends its elements 0, 1 and 4, 5 in one message; rank 1 takes them apart differently.
Schedule scattered(Rank rank) {
  ScheduleBuilder plan{{.rank = rank, .size = 2, .count = Count{6}, .aliasing = {}}};
  const auto part = [&plan](Buffer buffer, int offset, int count) {
    return Region{buffer, plan.output().offset + Count{offset}, Count{count}};
  };
  plan.copy(plan.input(), plan.output());
  if (rank == Rank{0})
    plan.send({part(Buffer::output, 0, 2), part(Buffer::output, 4, 2)}, Rank{1});
  else
    plan.recv({part(Buffer::output, 1, 1), part(Buffer::output, 3, 3)}, Rank{0});
  plan.copy(part(Buffer::input, 0, 1), part(Buffer::output, 0, 1));
  return plan.build();
}

TEST(Engine, GathersAndSpreadsMessagesOfSeveralRegions) {
  std::vector<shm::SharedPlan> plans;
  for (int rank = 0; rank < 2; ++rank) {
    const Schedule schedule = scattered(Rank{rank});
    for (const Step& step : pack_messages(schedule).steps)
      if (const auto* send = std::get_if<Send>(&step.action)) {
        EXPECT_EQ(send->from.size(), 1u);
      }
    const Problem problem{.rank = Rank{rank}, .size = 2, .count = Count{6}};
    plans.push_back(shm::compile(schedule, problem, Type::int32, Op::sum, {.window = 4}, {}));
  }
  Job job{plans, Count{6}, Aliasing::separate(), 11};
  ASSERT_TRUE(job.run());
  EXPECT_EQ(job.outputs()[1], (Values{1000, 0, 1002, 1, 4, 5}));
}

/// A dissemination barrier of signals alone.
Schedule barrier(Rank rank, int size) {
  ScheduleBuilder plan{{.rank = rank, .size = size, .count = Count{0}, .aliasing = {}}};
  for (int distance = 1; distance < size; distance *= 2) {
    plan.signal(Rank{(rank.value() + distance) % size});
    plan.await(Rank{(rank.value() - distance + size) % size});
  }
  return plan.build();
}

TEST(Engine, NoRankLeavesABarrierBeforeAllHaveEntered) {
  constexpr int size = 5, late = 2;
  FakeNetwork network{17};
  std::vector<CompiledPlan> plans;
  for (int rank = 0; rank < size; ++rank)
    plans.push_back(compile(barrier(Rank{rank}, size), {.rank = Rank{rank}, .size = size, .count = {}, .aliasing = {}},
                            Type::int8, Op::sum, {.window = 4}));
  std::vector<std::unique_ptr<Execution<FakePort>>> ranks;
  for (int rank = 0; rank < size; ++rank)
    ranks.push_back(
        std::make_unique<Execution<FakePort>>(plans[static_cast<std::size_t>(rank)], FakePort{network, rank}));
  for (auto& rank : ranks)
    rank->begin();
  for (int turn = 0; turn < 1000; ++turn) {
    for (int rank = 0; rank < size; ++rank)
      if (rank != late) {
        ASSERT_FALSE(ranks[static_cast<std::size_t>(rank)]->advance());
      }
    network.move_one();
  }
  int out = 0;
  for (int turn = 0; turn < 1000 && out < size; ++turn) {
    out = 0;
    for (auto& rank : ranks)
      out += rank->advance() ? 1 : 0;
    network.move_one();
  }
  EXPECT_EQ(out, size);
}

}  // namespace
}  // namespace tutti
