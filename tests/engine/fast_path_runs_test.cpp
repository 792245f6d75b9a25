// Plans of short messages: which take the fast path, and runs on the fast path that are broken off.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "lib/core/plan/compile.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "tests/engine/engine_jobs.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

using namespace test;

shm::SharedMemory memory_of(const std::vector<std::uint8_t>& reaches) {
  return {.reaches = reaches,
          .cell_bytes = 256,
          .piece_bytes = 65536,
          .copied_bytes = 12288,
          .joined_bytes = 4096,
          .eager_messages = 3};
}

/// Plans of short messages on ranks that all share memory.
std::vector<shm::SharedPlan> fast_plans_of(const Algorithm& algorithm, int size, Count count, Aliasing aliasing) {
  const std::vector<std::uint8_t> reaches(static_cast<std::size_t>(size), 1);
  return plans_of(algorithm, size, count, aliasing, 1, Op::sum, 0, memory_of(reaches));
}

TEST(FastPathRuns, EveryAllreduceBrokenOffAnywhere) {
  int fast_runs = 0, broken_off = 0;
  for (const Algorithm* algorithm : allreduces())
    for (int size = 1; size <= 9; ++size)
      for (const Count count : {Count{0}, Count{1}, Count{29}})
        for (const Aliasing aliasing : {Aliasing::separate(), Aliasing::in_place()}) {
          const auto plans = fast_plans_of(*algorithm, size, count, aliasing);
          if (!std::ranges::all_of(plans, &shm::SharedPlan::takes_fast_path)) continue;
          Job job{plans, count, aliasing, static_cast<unsigned>(size)};
          for (int run = 0; run < (aliasing == Aliasing::separate() ? 8 : 1); ++run) {
            ASSERT_TRUE(job.run_fast_path()) << algorithm->name << " p=" << size << " is stuck";
            for (const Values& output : job.outputs())
              ASSERT_EQ(output, sum_of_ranks(size, count)) << algorithm->name << " p=" << size;
          }
          fast_runs += job.fast_runs();
          broken_off += job.broken_off();
        }
  EXPECT_GT(broken_off, 1000);
  EXPECT_GT(fast_runs - broken_off, 1000);
}

TEST(FastPathRuns, PlansSendBeforeTheyWait) {
  const Algorithm& one_shot = *find_algorithm(Collective::allreduce, "one_shot");
  for (const shm::SharedPlan& plan : fast_plans_of(one_shot, 5, Count{1}, Aliasing::separate())) {
    EXPECT_TRUE(plan.takes_fast_path);
    EXPECT_TRUE(plan.in_order);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(plan.steps[i].verb, Verb::send) << i;
  }
  // The sends of its second round wait for all that was received in the first.
  const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  const shm::SharedPlan plan = fast_plans_of(doubling, 4, Count{1}, Aliasing::separate())[0];
  EXPECT_TRUE(plan.takes_fast_path);
  EXPECT_EQ(plan.steps[0].verb, Verb::send);
  EXPECT_NE(plan.steps[1].verb, Verb::send);
}

/// Random steps: the steps that each waits for stay before it, and no send could be earlier.
TEST(FastPathRuns, SendsArePutBeforeWhatTheyNeedNotWaitFor) {
  std::minstd_rand random{1};
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<CompiledStep> steps(1 + random() % 30);
    Dependencies after(steps.size());
    std::vector<std::vector<int>> names_after(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].verb = static_cast<Verb>(random() % 6);
      steps[i].message = static_cast<int>(i);  // its name
      for (std::size_t k = 0; i > 0 && k < random() % 3; ++k)
        after[i].push_back(static_cast<int>(random() % i));
      names_after[i] = after[i];
    }
    put_sends_first(steps, after);
    int last_send = -1, last_other = -1;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool sends = steps[i].verb == Verb::send;
      int& last = sends ? last_send : last_other;
      EXPECT_LT(last, steps[i].message);
      last = steps[i].message;
      std::vector<int> names;
      for (const int before : after[i]) {
        EXPECT_LT(before, static_cast<int>(i));
        names.push_back(steps[static_cast<std::size_t>(before)].message);
      }
      EXPECT_EQ(names, names_after[static_cast<std::size_t>(last)]);
      const bool waits_for_last = i > 0 && std::ranges::count(after[i], static_cast<int>(i) - 1) > 0;
      EXPECT_TRUE(!sends || i == 0 || steps[i - 1].verb == Verb::send || waits_for_last);
    }
  }
}

/// Two ranks get the same 10 bytes, others the same 100.
TEST(SendGroups, AreOfWhatIsWorthToShare) {
  Problem problem{.rank = Rank{0}, .size = 5, .count = Count{110}};
  problem.collective = Collective::alltoall;
  ScheduleBuilder builder{problem};
  for (const int peer : {1, 2})
    builder.send(Region{Buffer::input, Count{0}, Count{10}}, Rank{peer});
  for (const int peer : {3, 4})
    builder.send(Region{Buffer::input, Count{10}, Count{100}}, Rank{peer});
  const Schedule schedule = builder.build();
  const std::vector<std::uint8_t> reaches(5, 1);
  const auto groups_above = [&](std::int64_t cell_bytes, std::int64_t copied_bytes) {
    const shm::SharedPlan plan = shm::compile(schedule, problem, Type::int8, Op::sum, {},
                                              {.reaches = reaches,
                                               .cell_bytes = cell_bytes,
                                               .piece_bytes = 4096,
                                               .copied_bytes = copied_bytes,
                                               .eager_messages = 3});
    std::vector<int> groups{plan.groups};
    for (const CompiledStep& step : plan.steps)
      groups.push_back(plan.side(step).group);
    return groups;
  };
  EXPECT_EQ(groups_above(0, 0), (std::vector{2, 0, 0, 1, 1}));
  EXPECT_EQ(groups_above(0, 20), (std::vector{1, -1, -1, 0, 0}));
  EXPECT_EQ(groups_above(10, 0), (std::vector{1, -1, -1, 0, 0})) << "none of what is in cells";
  EXPECT_EQ(groups_above(0, 200), (std::vector{0, -1, -1, -1, -1}));
}

TEST(FastPathRuns, LongMessagesDoNotTakeIt) {
  const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  EXPECT_TRUE(fast_plans_of(doubling, 2, Count{2048}, Aliasing::separate())[0].takes_fast_path);
  EXPECT_FALSE(fast_plans_of(doubling, 2, Count{2049}, Aliasing::separate())[0].takes_fast_path);
  EXPECT_FALSE(plans_of(doubling, 2, Count{1}, Aliasing::separate(), 1)[0].takes_fast_path) << "not in shared memory";
  // Data that go to many ranks are copied once, and long data of several ranks are reduced together.
  const Algorithm& one_shot = *find_algorithm(Collective::allreduce, "one_shot");
  EXPECT_TRUE(fast_plans_of(one_shot, 4, Count{1024}, Aliasing::separate())[0].takes_fast_path);
  EXPECT_FALSE(fast_plans_of(one_shot, 3, Count{1025}, Aliasing::separate())[0].takes_fast_path);
  EXPECT_TRUE(fast_plans_of(one_shot, 5, Count{768}, Aliasing::separate())[0].takes_fast_path);
  EXPECT_FALSE(fast_plans_of(one_shot, 5, Count{769}, Aliasing::separate())[0].takes_fast_path);
  EXPECT_TRUE(fast_plans_of(one_shot, 100, Count{64}, Aliasing::separate())[0].takes_fast_path) << "in cells";
}

}  // namespace
}  // namespace tutti
