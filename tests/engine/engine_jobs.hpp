#pragma once
// Allreduces on a network inside the process, for tests of the engine.

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "lib/core/exec/execution.hpp"
#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "tests/engine/fake_network.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::test {

using Values = std::vector<std::int32_t>;

/// All ranks of one collective, run in one process.
class Job {
 public:
  Job(const std::vector<shm::SharedPlan>& plans, Count count, Aliasing aliasing, unsigned seed)
      : network_(seed), random_(seed), in_place_(aliasing == Aliasing::in_place()) {
    const auto n = static_cast<std::size_t>(count.value());
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
      inputs_.emplace_back(n, static_cast<std::int32_t>(rank) + 1);
      std::iota(inputs_.back().begin(), inputs_.back().end(), static_cast<std::int32_t>(1000 * rank));
      outputs_.push_back(in_place_ ? inputs_.back() : Values(n, -1));
      const shm::SharedPlan* const fast = plans[rank].takes_fast_path ? &plans[rank] : nullptr;
      ranks_.push_back(
          std::make_unique<Execution<FakePort>>(plans[rank], FakePort{network_, static_cast<int>(rank), fast}));
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
  /// Runs fast-path plans, which begin with runs on the fast path of random length; others begin while one
  /// waits.
  bool run_fast_path() {
    over_.assign(ranks_.size(), false);
    next_ = 0;
    while (next_ < ranks_.size())
      begin_fast_path();
    return run_on();
  }

  std::vector<Values>& inputs() { return inputs_; }
  [[nodiscard]] const std::vector<Values>& outputs() const { return outputs_; }
  [[nodiscard]] int messages() const { return network_.moved(); }
  /// Runs on the fast path so far, of which so many were not to the end.
  [[nodiscard]] int fast_runs() const { return fast_runs_; }
  [[nodiscard]] int broken_off() const { return broken_off_; }

 private:
  void bind(std::size_t rank) {
    ranks_[rank]->bind(in_place_ ? outputs_[rank].data() : inputs_[rank].data(), outputs_[rank].data());
  }
  void begin_fast_path() {
    const std::size_t rank = next_++;
    Execution<FakePort>& run = *ranks_[rank];
    bind(rank);
    auto again = [this] {
      if (next_ < ranks_.size()) begin_fast_path();
      return random_() % 4 != 0;
    };
    const std::size_t done = run.run_fast_path(again);
    ++fast_runs_;
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
  int fast_runs_ = 0, broken_off_ = 0;
  bool in_place_;
  std::vector<Values> inputs_, outputs_;
  std::vector<std::unique_ptr<Execution<FakePort>>> ranks_;
};

inline std::vector<const Algorithm*> allreduces() {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == Collective::allreduce) found.push_back(algorithm);
  return found;
}

inline std::vector<shm::SharedPlan> plans_of(const Algorithm& algorithm, int size, Count count, Aliasing aliasing,
                                             int window, const Op& op = Op::sum, std::int64_t segment = 0,
                                             const shm::SharedMemory& memory = {}) {
  std::vector<shm::SharedPlan> plans;
  for (int rank = 0; rank < size; ++rank) {
    const Problem problem{.rank = Rank{rank},
                          .size = size,
                          .count = count,
                          .aliasing = aliasing,
                          .parameter = algorithm.parameter.fallback};
    const Choice choice{.algorithm = &algorithm, .parameter = algorithm.parameter.fallback, .segment = segment};
    plans.push_back(shm::compile(choice, problem, Type::int32, op, {.window = window}, memory));
  }
  return plans;
}

inline Values sum_of_ranks(int size, Count count) {
  Values sum(static_cast<std::size_t>(count.value()));
  for (std::size_t i = 0; i < sum.size(); ++i)
    for (int rank = 0; rank < size; ++rank)
      sum[i] += 1000 * rank + static_cast<std::int32_t>(i);
  return sum;
}

}  // namespace tutti::test
