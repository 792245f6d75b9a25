// The engine on a network inside the process: every algorithm, every rank count, any order of messages.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "lib/engine/execution.hpp"
#include "lib/engine/step_order.hpp"
#include "lib/schedule/pack_messages.hpp"
#include "tests/fake_network.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

using test::FakeNetwork;
using test::FakePort;
using Values = std::vector<std::int32_t>;

/// All ranks of one collective, run in one process.
class Job {
 public:
  Job(const std::vector<CompiledPlan>& plans, Count count, Aliasing aliasing, unsigned seed)
      : network_(seed), random_(seed), in_place_(aliasing == Aliasing::in_place()) {
    const auto n = static_cast<std::size_t>(count.value());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      inputs_.emplace_back(n, static_cast<std::int32_t>(rank) + 1);
      std::iota(inputs_.back().begin(), inputs_.back().end(), static_cast<std::int32_t>(1000 * rank));
      outputs_.push_back(in_place_ ? inputs_.back() : Values(n, -1));
      const CompiledPlan* const brief = plans[rank].is_brief ? &plans[rank] : nullptr;
      ranks_.push_back(
          std::make_unique<Execution<FakePort>>(plans[rank], FakePort{network_, static_cast<int>(rank), brief}));
    }
  }

  /// Runs to the end, ranks and messages in random order. False: stuck.
  bool run() {
    over_.assign(ranks_.size(), false);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      bind(rank);
      ranks_[rank]->begin();
    }
    return run_on();
  }
  /// The same of brief plans, which begin with brief runs of random length; others begin while one waits.
  bool run_briefly() {
    over_.assign(ranks_.size(), false);
    next_ = 0;
    while (next_ < ranks_.size())
      begin_briefly();
    return run_on();
  }

  std::vector<Values>& inputs() { return inputs_; }
  [[nodiscard]] const std::vector<Values>& outputs() const { return outputs_; }
  [[nodiscard]] int messages() const { return network_.moved(); }
  /// Brief runs so far, of which so many were not to the end.
  [[nodiscard]] int brief_runs() const { return brief_runs_; }
  [[nodiscard]] int broken_off() const { return broken_off_; }

 private:
  void bind(std::size_t rank) {
    ranks_[rank]->bind(in_place_ ? outputs_[rank].data() : inputs_[rank].data(), outputs_[rank].data());
  }
  void begin_briefly() {
    const std::size_t rank = next_++;
    Execution<FakePort>& run = *ranks_[rank];
    bind(rank);
    auto again = [this] {
      if (next_ < ranks_.size()) begin_briefly();
      return random_() % 4 != 0;
    };
    const std::size_t done = run.run_briefly(again);
    ++brief_runs_;
    over_[rank] = done == run.plan().steps.size();
    if (over_[rank]) return;
    ++broken_off_;
    run.begin();
    run.skip(done);
  }
  bool run_on() {
    auto running = static_cast<std::size_t>(std::ranges::count(over_, false));
    constexpr int patience = 1'000'000;
    for (int turn = 0; running > 0 && turn < patience; ++turn) {
      const std::size_t rank = random_() % ranks_.size();
      if (!over_[rank] && ranks_[rank]->advance()) {
        over_[rank] = true;
        --running;
      }
      network_.move_one();
    }
    return running == 0 && network_.quiet();
  }

  FakeNetwork network_;
  std::mt19937 random_;
  std::vector<bool> over_;
  std::size_t next_ = 0;  ///< To begin.
  int brief_runs_ = 0, broken_off_ = 0;
  bool in_place_;
  std::vector<Values> inputs_, outputs_;
  std::vector<std::unique_ptr<Execution<FakePort>>> ranks_;
};

std::vector<const Algorithm*> allreduces() {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == Collective::allreduce) found.push_back(algorithm);
  return found;
}

std::vector<CompiledPlan> plans_of(const Algorithm& algorithm, int size, Count count, Aliasing aliasing, int window,
                                   const Op& op = Op::sum, std::int64_t segment = 0) {
  std::vector<CompiledPlan> plans;
  for (int rank = 0; rank < size; ++rank) {
    const Problem problem{.rank = Rank{rank},
                          .size = size,
                          .count = count,
                          .aliasing = aliasing,
                          .parameter = algorithm.parameter.fallback};
    plans.push_back(compile({.algorithm = &algorithm, .parameter = algorithm.parameter.fallback, .segment = segment},
                            problem, Type::int32, op, MessageWindow{window}));
  }
  return plans;
}

Values sum_of_ranks(int size, Count count) {
  Values sum(static_cast<std::size_t>(count.value()));
  for (std::size_t i = 0; i < sum.size(); ++i)
    for (int rank = 0; rank < size; ++rank)
      sum[i] += 1000 * rank + static_cast<std::int32_t>(i);
  return sum;
}

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

/// Plans of short messages on ranks that all share memory.
std::vector<CompiledPlan> brief_plans_of(const Algorithm& algorithm, int size, Count count, Aliasing aliasing) {
  const std::vector<std::uint8_t> reaches(static_cast<std::size_t>(size), 1);
  const SharedMemory memory{
      .reaches = reaches, .slot_bytes = 256, .piece_bytes = 4096, .ring_room = 3, .swap_slots = 2};
  std::vector<CompiledPlan> plans;
  for (int rank = 0; rank < size; ++rank) {
    const Problem problem{.rank = Rank{rank},
                          .size = size,
                          .count = count,
                          .aliasing = aliasing,
                          .parameter = algorithm.parameter.fallback};
    plans.push_back(compile({.algorithm = &algorithm, .parameter = algorithm.parameter.fallback}, problem, Type::int32,
                            Op::sum, MessageWindow{1}, memory));
  }
  return plans;
}

TEST(Engine, EveryBriefAllreduceBrokenOffAnywhere) {
  int brief_runs = 0, broken_off = 0;
  for (const Algorithm* algorithm : allreduces())
    for (int size = 1; size <= 9; ++size)
      for (const Count count : {Count{0}, Count{1}, Count{29}})
        for (const Aliasing aliasing : {Aliasing::separate(), Aliasing::in_place()}) {
          const auto plans = brief_plans_of(*algorithm, size, count, aliasing);
          if (!std::ranges::all_of(plans, &CompiledPlan::is_brief)) continue;
          Job job{plans, count, aliasing, static_cast<unsigned>(size)};
          for (int run = 0; run < (aliasing == Aliasing::separate() ? 8 : 1); ++run) {
            ASSERT_TRUE(job.run_briefly()) << algorithm->name << " p=" << size << " is stuck";
            for (const Values& output : job.outputs())
              ASSERT_EQ(output, sum_of_ranks(size, count)) << algorithm->name << " p=" << size;
          }
          brief_runs += job.brief_runs();
          broken_off += job.broken_off();
        }
  EXPECT_GT(broken_off, 1000);
  EXPECT_GT(brief_runs - broken_off, 1000);
}

TEST(Engine, BriefPlansSendBeforeTheyWait) {
  const Algorithm& one_shot = *find_algorithm(Collective::allreduce, "one_shot");
  for (const CompiledPlan& plan : brief_plans_of(one_shot, 5, Count{1}, Aliasing::separate())) {
    EXPECT_TRUE(plan.is_brief);
    EXPECT_TRUE(plan.in_order);
    for (std::size_t i = 0; i < 4; ++i)
      EXPECT_EQ(plan.steps[i].verb, Verb::send) << i;
  }
  // The sends of its second round wait for all that was received in the first.
  const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  const CompiledPlan plan = brief_plans_of(doubling, 4, Count{1}, Aliasing::separate())[0];
  EXPECT_TRUE(plan.is_brief);
  EXPECT_EQ(plan.steps[0].verb, Verb::send);
  EXPECT_NE(plan.steps[1].verb, Verb::send);
}

/// Any steps whatever: what each waits for stays before it, and no send could be earlier.
TEST(Engine, SendsArePutBeforeWhatTheyNeedNotWaitFor) {
  std::minstd_rand random{1};
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<CompiledStep> steps(1 + random() % 30);
    Dependencies after(steps.size());
    std::vector<std::vector<int>> names_after(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      steps[i].verb = static_cast<Verb>(random() % 5);
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

TEST(Engine, LongMessagesAreNotBrief) {
  const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  EXPECT_TRUE(brief_plans_of(doubling, 2, Count{1024}, Aliasing::separate())[0].is_brief);
  EXPECT_FALSE(brief_plans_of(doubling, 2, Count{1025}, Aliasing::separate())[0].is_brief);
  EXPECT_FALSE(plans_of(doubling, 2, Count{1}, Aliasing::separate(), 1)[0].is_brief) << "not in shared memory";
  // Of data that go to several ranks one copy is made, and those of several are reduced together.
  const Algorithm& one_shot = *find_algorithm(Collective::allreduce, "one_shot");
  EXPECT_TRUE(brief_plans_of(one_shot, 4, Count{64}, Aliasing::separate())[0].is_brief);
  EXPECT_FALSE(brief_plans_of(one_shot, 4, Count{65}, Aliasing::separate())[0].is_brief);
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

/// lhs - 2 * rhs: neither commutative nor, unlike what is documented, associative; it shows the operands of each call.
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
  std::vector<CompiledPlan> plans;
  for (int rank = 0; rank < 2; ++rank) {
    const Schedule schedule = scattered(Rank{rank});
    for (const Step& step : pack_messages(schedule).steps)
      if (const auto* send = std::get_if<Send>(&step.action)) {
        EXPECT_EQ(send->from.size(), 1u);
      }
    plans.push_back(compile(schedule, {.rank = Rank{rank}, .size = 2, .count = Count{6}, .aliasing = {}}, Type::int32,
                            Op::sum, MessageWindow{4}));
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
                            Type::int8, Op::sum, MessageWindow{4}));
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
