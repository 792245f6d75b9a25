#pragma once
// Work that was posted to streams and is asked for, never waited for.

#include <cuda.h>

#include <chrono>
#include <vector>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/device.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/pending_waits.hpp"

namespace tutti::cuda {

/// Each piece of work has a number and an event behind it.
class PendingWork {
 public:
  PendingWork() = default;
  explicit PendingWork(std::size_t most) { pending_.reserve(most); }
  PendingWork(PendingWork&& other) noexcept : pending_(std::move(other.pending_)) { other.pending_.clear(); }
  PendingWork& operator=(PendingWork&&) = delete;
  ~PendingWork() { abandon(); }

  /// `queue()` queues the work to the stream, in the device's context. Throws its errors, and those of the driver; then
  /// nothing of it is pending.
  template <class Queue>
  void post(int number, Device& device, CUstream stream, const Queue& queue) {
    const ScopedContext scope{device.context()};
    auto* const event = device.take_event();
    try {
      queue();
      check(driver()->EventRecord(event, stream), "cuEventRecord");
    } catch (...) {
      static_cast<void>(driver()->StreamSynchronize(stream));  // of work that no event follows
      device.give_back(event);
      throw;
    }
    pending_.push_back({number, &device, event});
    ++device.work.posted;
  }

  /// Calls on_complete(number) for work that is over, which may post more. Never blocks. Returns how much was over.
  template <class OnComplete>
  int poll(const OnComplete& on_complete) {
    int completed = 0;
    for (std::size_t i = 0; i < pending_.size();) {
      const Pending pending = pending_[i];
      if (!is_over(pending)) {
        ++i;
        continue;
      }
      pending_[i] = pending_.back();
      pending_.pop_back();
      pending.device->give_back(pending.event);
      ++pending.device->work.done;
      on_complete(pending.number);
      ++completed;
    }
    return completed;
  }

  /// After a failure: waits for the work, which uses the caller's buffers, and forgets it. While a stream of this
  /// process waits, which may hold the work up, it waits for a second.
  void abandon() noexcept {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{1};
    for (const Pending& pending : pending_) {
      const ScopedContext scope{pending.device->context(), std::nothrow};
      ++pending.device->work.done;
      if (scope.is_current() && !wait(pending.event, end)) continue;
      pending.device->give_back(pending.event);
    }
    pending_.clear();
  }

 private:
  struct Pending {
    int number;
    Device* device;
    CUevent event;
  };
  /// False: it is not over, and the event must not be used again.
  static bool wait(CUevent event, std::chrono::steady_clock::time_point end) noexcept {
    while (StreamWaits::any_pending() && driver()->EventQuery(event) == CUDA_ERROR_NOT_READY)
      if (std::chrono::steady_clock::now() > end) return false;
    static_cast<void>(driver()->EventSynchronize(event));
    return true;
  }
  static bool is_over(const Pending& pending) {
    const ScopedContext scope{pending.device->context()};
    const CUresult result = driver()->EventQuery(pending.event);
    if (result != CUDA_ERROR_NOT_READY) check(result, "cuEventQuery");
    return result == CUDA_SUCCESS;
  }

  std::vector<Pending> pending_;
};

}  // namespace tutti::cuda
