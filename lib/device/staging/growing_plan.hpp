#pragma once
// A plan to which steps are added.

#include <cstdint>
#include <vector>

#include "lib/core/plan/pair_order.hpp"
#include "lib/core/plan/shared_plan.hpp"
#include "lib/device/staging/intervals.hpp"

namespace tutti::device {

/// So many bytes, and those behind them up to where the next piece of a staging buffer may begin.
[[nodiscard]] constexpr std::int64_t aligned(std::int64_t bytes) {
  constexpr std::int64_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

/// Bytes that a step reads or writes.
struct Access {
  Buffer buffer = Buffer::input;
  Interval bytes{};
  bool writes = false;
};
/// The accesses of a step of a plan that is no fetch and no store. None, if it has no bytes.
[[nodiscard]] std::vector<Access> accesses_of(const CompiledPlan& plan, const CompiledStep& step);

/// New steps go behind the others, which keep their numbers: other tables refer to them.
class GrowingPlan {
 public:
  explicit GrowingPlan(shm::SharedPlan plan) : plan_(std::move(plan)), after_(dependencies_of(plan_)) {}

  [[nodiscard]] shm::SharedPlan& plan() { return plan_; }
  [[nodiscard]] CompiledStep& operator[](int step) { return plan_.steps[static_cast<std::size_t>(step)]; }
  [[nodiscard]] int size() const { return static_cast<int>(plan_.steps.size()); }
  /// The steps that a step waits for, to be changed.
  [[nodiscard]] std::vector<int>& after(int step) { return after_[static_cast<std::size_t>(step)]; }

  int add(const CompiledStep& step, std::vector<int> after) {
    plan_.steps.push_back(step);
    after_.push_back(std::move(after));
    return size() - 1;
  }
  /// Copies bytes of a device to the staging buffer; returns the step.
  int add_fetch(int device, Buffer from, std::int64_t from_at, std::int64_t staging_at, std::int64_t bytes,
                std::vector<int> after);
  /// The other way.
  int add_store(int device, std::int64_t staging_at, Buffer into, std::int64_t into_at, std::int64_t bytes,
                std::vector<int> after);

  /// The plan with its new steps. They may start in any order that the dependencies allow.
  [[nodiscard]] shm::SharedPlan finished() &&;

 private:
  shm::SharedPlan plan_;
  Dependencies after_;
};

}  // namespace tutti::device
