#pragma once
// The thread that completes operations for which nobody waits: one a process, for all groups.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "operation.hpp"

namespace tutti_torch {

/// How a loop that asks again and again treats the processor: at first it asks at once, then others may run, and soon
/// it sleeps between two questions, a tenth of the time that has passed, as the program computes meanwhile.
class Patience {
 public:
  explicit Patience(bool may_sleep) : may_sleep_(may_sleep) {}
  void pause() {
    ++rounds_;
    if (rounds_ < eager_rounds) return;
    if (may_sleep_ && rounds_ > patient_rounds) {
      std::this_thread::sleep_for(sleep_);
      sleep_ = std::min(sleep_ + sleep_ / 10, longest_sleep);
    } else {
      std::this_thread::yield();
    }
  }
  void reset() {
    rounds_ = 0;
    sleep_ = shortest_sleep;
  }

 private:
  static constexpr int eager_rounds = 32;
  static constexpr int patient_rounds = 100;
  static constexpr std::chrono::nanoseconds shortest_sleep{20000}, longest_sleep{500000};
  int rounds_ = 0;
  std::chrono::nanoseconds sleep_ = shortest_sleep;
  bool may_sleep_;
};

class Progress {
 public:
  /// Lives as long as the process: other threads may still be inside when it ends.
  static Progress& instance() {
    static auto* progress = new Progress;
    return *progress;
  }
  /// The group has operations that nobody waits for.
  void watch(const std::shared_ptr<Group>& group);
  /// True on the thread itself, which must go on with all groups while it waits in a callback.
  [[nodiscard]] bool is_here() const { return std::this_thread::get_id() == id_.load(); }
  /// Moves all groups forward. False: nothing is under way, or others are about it.
  bool poll();

 private:
  Progress() {
    std::thread([this] { loop(); }).detach();
  }
  [[noreturn]] void loop();

  [[nodiscard]] bool has_groups() {
    const std::lock_guard lock(mutex_);
    return !groups_.empty();
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::shared_ptr<Group>> groups_;
  std::atomic<std::thread::id> id_{};
  uint64_t asked_ = 0;
};

}  // namespace tutti_torch
