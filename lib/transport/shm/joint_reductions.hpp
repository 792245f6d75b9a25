#pragma once
// Multi-operand reductions: what several ranks send is reduced in one pass over memory.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/transport/shm/message_order.hpp"
#include "lib/transport/shm/port_context.hpp"

namespace tutti::shm {

/// A joint reduction under way. It waits, but not for ever, until the next pieces of all its messages are there;
/// what it has not taken by then is received and reduced one by one.
struct Joint {
  std::int64_t done = 0;
  std::size_t there = 0;  ///< Operands that the next pieces of are known to be there.
  bool is_off = false;
  int looks = 0;  ///< At a message whose next piece is there, in vain.
  std::chrono::steady_clock::time_point since{};
  /// To be asked at each such look.
  [[nodiscard]] bool has_waited_long();
};

/// Those of one execution.
class JointReductions {
 public:
  explicit JointReductions(PortContext& context) : context_(&context), joints_(context.plan->joints.size()) {}

  /// A new run.
  void begin() { std::ranges::fill(joints_, Joint{}); }
  [[nodiscard]] Joint& at(int joint) { return joints_[static_cast<std::size_t>(joint)]; }
  [[nodiscard]] const Joint& at(int joint) const { return joints_[static_cast<std::size_t>(joint)]; }
  /// Takes what is there, for a receive that is part of one and next. True once all of it is done.
  bool reduce(const CompiledStep& step, const MessageOrder& order);

 private:
  [[nodiscard]] const CompiledStep& step(int index) const {
    return context_->plan->steps[static_cast<std::size_t>(index)];
  }
  bool are_there(const JointReduction& joint, Joint& at, const MessageOrder& order) const;
  bool take(const JointReduction& joint, Joint& at) const;
  [[nodiscard]] const std::byte* piece_of(const CompiledStep& step, const Envelope& came, std::byte* room,
                                          std::size_t bytes) const;

  PortContext* context_;
  std::vector<Joint> joints_;  ///< As SharedPlan::joints.
};

}  // namespace tutti::shm
