#pragma once
// The executor of plans on device buffers: copies and kernels in streams, completed by events that poll() asks.

#include <array>
#include <bit>
#include <vector>

#include "lib/cuda/check.hpp"
#include "lib/cuda/device.hpp"
#include "lib/cuda/driver.hpp"
#include "lib/exec/executor.hpp"

namespace tutti::cuda {

/// For plans all of whose buffers are on one device. The host waits nowhere: a step that needs another starts when
/// poll() has seen the other's event. All members need the device's driver; posts and polls throw Error.
class DeviceExecutor {
 public:
  DeviceExecutor(const CompiledPlan& plan, Device& device)
      : plan_(&plan), device_(&device), scratch_(device, plan.scratch_bytes) {
    pending_.reserve(plan.steps.size() + 1);
  }
  DeviceExecutor(DeviceExecutor&&) noexcept = default;
  DeviceExecutor& operator=(DeviceExecutor&&) = delete;
  ~DeviceExecutor() { abandon(); }

  /// After a failure: waits for the work that was posted, which uses the caller's buffers, and forgets it.
  void abandon() noexcept {
    if (pending_.empty()) return;
    const ScopedContext scope{device_->context(), std::nothrow};
    for (const Pending& pending : pending_) {
      if (scope.is_current()) static_cast<void>(driver()->EventSynchronize(pending.event));
      device_->give_back(pending.event);
    }
    pending_.clear();
  }

  [[nodiscard]] std::byte* scratch() { return std::bit_cast<std::byte*>(scratch_.address()); }

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
      const std::array inputs{address(operands.lhs), address(operands.rhs)};
      const std::array outputs{address(operands.into)};
      device_->kernels().reduce(plan_->op.kind(), plan_->type, inputs, outputs, Count{bytes >> plan_->element_shift},
                                stream);
    });
  }
  Posted post_finish(int index, std::byte* output) {
    const Op::Kind kind = plan_->op.kind();
    if ((kind != Op::Kind::avg && kind != Op::Kind::scaled_sum) || plan_->count == 0) return Posted::complete;
    return post(index, [&](CUstream stream) {
      const Kernels& kernels = device_->kernels();
      if (kind == Op::Kind::avg)
        kernels.divide(plan_->type, address(output), Count{plan_->count}, plan_->ranks, stream);
      else
        kernels.scale(plan_->type, address(output), Count{plan_->count}, plan_->op.scale(), stream);
    });
  }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    if (pending_.empty()) return 0;
    const ScopedContext scope{device_->context()};
    int completed = 0;
    for (std::size_t i = 0; i < pending_.size();) {  // work that is over may post more
      const Pending pending = pending_[i];
      const CUresult result = driver()->EventQuery(pending.event);
      if (result == CUDA_ERROR_NOT_READY) {
        ++i;
        continue;
      }
      check(result, "cuEventQuery");
      pending_[i] = pending_.back();
      pending_.pop_back();
      device_->give_back(pending.event);
      on_complete(pending.index);
      ++completed;
    }
    return completed;
  }

 private:
  struct Pending {
    int index;
    CUevent event;
  };
  static CUdeviceptr address(const std::byte* data) { return std::bit_cast<CUdeviceptr>(data); }

  template <class Queue>
  Posted post(int index, const Queue& queue) {
    const ScopedContext scope{device_->context()};
    auto* const stream = device_->next_stream();
    auto* const event = device_->take_event();
    try {
      queue(stream);
      check(driver()->EventRecord(event, stream), "cuEventRecord");
    } catch (...) {
      static_cast<void>(driver()->StreamSynchronize(stream));  // of work that no event follows
      device_->give_back(event);
      throw;
    }
    pending_.push_back({index, event});
    return Posted::pending;
  }

  const CompiledPlan* plan_;
  Device* device_;
  DeviceBuffer scratch_;
  std::vector<Pending> pending_;
};
static_assert(Executor<DeviceExecutor>);

}  // namespace tutti::cuda
