#pragma once
// An executor that records the copies and reductions of its execution.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/core/exec/executor.hpp"
#include "lib/watch/trace/steps.hpp"

namespace tutti::trace {

/// Takes the place of `Worker` in an execution whose steps are recorded. Not recorded are copies of no bytes, which
/// only order others, and a last pass that the operation does not need.
template <Executor Worker>
class TracedExecutor {
 public:
  /// The steps have to outlive it.
  TracedExecutor(Worker worker, const CompiledPlan& plan, Steps& steps)
      : worker_(std::move(worker)), plan_(&plan), steps_(&steps), pending_(plan.steps.size() + 1) {}

  [[nodiscard]] std::byte* scratch() { return worker_.scratch(); }

  Posted post_copy(int index, const std::byte* from, std::byte* into, std::int64_t bytes) {
    return posted(index, {Action::copy, bytes}, [&] { return worker_.post_copy(index, from, into, bytes); });
  }
  Posted post_reduce(int index, const Operands& operands, std::int64_t bytes) {
    return posted(index, {Action::reduce, bytes}, [&] { return worker_.post_reduce(index, operands, bytes); });
  }
  Posted post_combine(int index, std::span<const void* const> operands, std::byte* into, std::int64_t bytes) {
    return posted(index, {Action::reduce, bytes}, [&] { return worker_.post_combine(index, operands, into, bytes); });
  }
  Posted post_finish(int index, std::byte* output) {
    const std::int64_t bytes = needs_finish(plan_->op) ? plan_->count * plan_->element : 0;
    return posted(index, {Action::finish, bytes}, [&] { return worker_.post_finish(index, output); });
  }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    return worker_.poll([&](int index) {
      record(index, pending_[static_cast<std::size_t>(index)]);
      on_complete(index);
    });
  }
  void abandon() noexcept { worker_.abandon(); }

 private:
  struct Work {
    Action action = Action::copy;
    std::int64_t bytes = 0;
  };
  template <class Post>
  Posted posted(int index, const Work& work, const Post& post) {
    steps_->post(index);
    const Posted how = post();
    if (how == Posted::complete)
      record(index, work);
    else
      pending_[static_cast<std::size_t>(index)] = work;
    return how;
  }
  void record(int index, const Work& work) {
    if (work.bytes > 0) steps_->worked(index, work.action, work.bytes);
  }

  Worker worker_;
  const CompiledPlan* plan_;
  Steps* steps_;
  std::vector<Work> pending_;  ///< Per step, and the last pass.
};
static_assert(Executor<TracedExecutor<HostExecutor>>);

}  // namespace tutti::trace
