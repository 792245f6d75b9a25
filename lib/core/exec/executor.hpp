#pragma once
// An executor makes the copies and reductions of a plan: on the host, at once, or on a device, in its own time.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lib/core/exec/port.hpp"
#include "lib/core/memory/aligned_buffer.hpp"
#include "lib/core/reduce/kernels.hpp"

namespace tutti {

/// Makes the copies and reductions of one execution, run after run. Each is numbered by its step; the last pass over
/// the output by the number of steps. Every post is taken: nothing is ever Posted::busy.
///   scratch()                                  the plan's scratch, where the executor can use it; nullptr: it is lent
///   post_copy(index, from, into, bytes)        starts a copy; no bytes: it only orders others, and both may be null
///   post_reduce(index, operands, bytes)        starts a reduction with the plan's operation
///   post_combine(index, operands, into, bytes) starts a reduction of several operands at once, the pointers of which
///   are read at once post_finish(index, output)                 starts the last pass over the output, which average
///   and scaled sum need poll(on_complete)                          never blocks; calls on_complete(index) for work
///   that has completed
///                                              since it was posted; more than 0: it is worth to look again
///   abandon()                                  after a failure: waits for the work under way, and forgets it
template <class T>
concept Executor = requires(T executor, int index, const std::byte* from, std::byte* into, std::int64_t bytes,
                            const Operands& operands, std::span<const void* const> many, void (*on_complete)(int)) {
  { executor.scratch() } -> std::same_as<std::byte*>;
  { executor.post_copy(index, from, into, bytes) } -> std::same_as<Posted>;
  { executor.post_reduce(index, operands, bytes) } -> std::same_as<Posted>;
  { executor.post_combine(index, many, into, bytes) } -> std::same_as<Posted>;
  { executor.post_finish(index, into) } -> std::same_as<Posted>;
  { executor.poll(on_complete) } -> std::convertible_to<int>;
  executor.abandon();
};

/// The host's: everything is complete when it has been posted, inlined into the walk.
class HostExecutor {
 public:
  explicit HostExecutor(const CompiledPlan& plan)
      : plan_(&plan), scratch_(static_cast<std::size_t>(plan.scratch_bytes)) {}

  [[nodiscard]] std::byte* scratch() { return scratch_.data(); }

  Posted post_copy(int /*index*/, const std::byte* from, std::byte* into, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(into, from, static_cast<std::size_t>(bytes));
    return Posted::complete;
  }
  Posted post_reduce(int /*index*/, const Operands& operands, std::int64_t bytes) {
    plan_->combine(operands.lhs, operands.rhs, operands.into, bytes);
    return Posted::complete;
  }
  Posted post_combine(int /*index*/, std::span<const void* const> operands, std::byte* into, std::int64_t bytes) {
    plan_->reduce_many(operands.data(), operands.size(), into, nullptr,
                       static_cast<std::size_t>(bytes >> plan_->element_shift));
    return Posted::complete;
  }
  Posted post_finish(int /*index*/, std::byte* output) {
    if (!needs_finish(plan_->op)) return Posted::complete;
    const auto count = static_cast<std::size_t>(plan_->count);
    if (plan_->op.kind() == Op::Kind::avg) divide_kernel(plan_->type)(output, count, plan_->ranks);
    if (plan_->op.kind() == Op::Kind::scaled_sum) scale_kernel(plan_->type)(output, count, plan_->op.scale());
    return Posted::complete;
  }
  template <class OnComplete>
  int poll(OnComplete /*on_complete*/) {
    return 0;
  }
  void abandon() noexcept {}

 private:
  const CompiledPlan* plan_;
  AlignedBuffer scratch_;
};
static_assert(Executor<HostExecutor>);

}  // namespace tutti
