#pragma once
// The executor of plans on device buffers: copies and kernels in streams, completed by events that poll() asks.

#include <array>

#include "lib/core/exec/executor.hpp"
#include "lib/device/driver/check.hpp"
#include "lib/device/driver/device.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/pending_work.hpp"

namespace tutti::cuda {

/// The executor of plans whose buffers are all on one device, but for copies, which may also read or write the host's
/// memory. The host waits nowhere: a step that needs another starts when poll() has seen the other's event. All members
/// need the device's driver; posts and polls throw Error.
class DeviceExecutor {
 public:
  /// The scratch of its runs has to be lent to them: Execution::lend().
  DeviceExecutor(const CompiledPlan& plan, Device& device)
      : plan_(&plan), device_(&device), work_(plan.steps.size() + 1) {
    device.prepare_events(plan.steps.size() + 1);
  }

  /// After a failure: waits for the work that was posted, which uses the caller's buffers, and forgets it.
  void abandon() noexcept { work_.abandon(); }

  [[nodiscard]] std::byte* scratch() { return nullptr; }

  Posted post_copy(int index, const std::byte* from, std::byte* into, std::int64_t bytes) {
    if (bytes == 0) return Posted::complete;
    return post(index, [&](CUstream stream) {
      check(driver()->MemcpyAsync(address(into), address(from), static_cast<std::size_t>(bytes), stream),
            "cuMemcpyAsync");
    });
  }
  Posted post_reduce(int index, const Operands& operands, std::int64_t bytes) {
    if (bytes == 0) return Posted::complete;
    return post(index, [&](CUstream stream) {
      if (plan_->op.kind() == Op::Kind::user)
        return device_->kernels().combine(plan_->op.kernel(), address(operands.lhs), address(operands.rhs),
                                          address(operands.into), Count{bytes >> plan_->element_shift}, stream);
      const std::array inputs{address(operands.lhs), address(operands.rhs)};
      const std::array outputs{address(operands.into)};
      device_->kernels().reduce(plan_->op, plan_->type, inputs, outputs, Count{bytes >> plan_->element_shift}, stream);
    });
  }
  Posted post_combine(int index, std::span<const void* const> operands, std::byte* into, std::int64_t bytes) {
    std::array<CUdeviceptr, most_inputs> inputs{};
    for (std::size_t k = 0; k < operands.size(); ++k)
      inputs[k] = address(operands[k]);
    return post(index, [&](CUstream stream) {
      const std::array outputs{address(into)};
      device_->kernels().reduce(plan_->op, plan_->type, std::span{inputs}.first(operands.size()), outputs,
                                Count{bytes >> plan_->element_shift}, stream);
    });
  }
  Posted post_finish(int index, std::byte* output) {
    if (!needs_finish(plan_->op) || plan_->count == 0) return Posted::complete;
    return post(index, [&](CUstream stream) {
      device_->kernels().finish(plan_->op, plan_->type, address(output), Count{plan_->count}, plan_->ranks, stream);
    });
  }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    return work_.poll(on_complete);
  }

 private:
  template <class Queue>
  Posted post(int index, const Queue& queue) {
    auto* const stream = device_->next_stream();
    work_.post(index, *device_, stream, [&] { queue(stream); });
    return Posted::pending;
  }

  const CompiledPlan* plan_;
  Device* device_;
  PendingWork work_;
};
static_assert(Executor<DeviceExecutor>);

}  // namespace tutti::cuda
