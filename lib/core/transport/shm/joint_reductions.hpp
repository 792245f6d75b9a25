#pragma once
// Multi-operand reductions: the messages of several ranks are reduced in one pass over memory.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/transport/shm/message_order.hpp"
#include "lib/core/transport/shm/port_context.hpp"

namespace tutti::shm {

/// A joint (multi-operand) reduction under way. It waits until the next pieces of all its messages are there, but not
/// for ever: pieces that it has not taken by then are received and reduced one by one.
struct Joint {
  std::int64_t done = 0;
  std::size_t there = 0;  ///< Operands that the next pieces of are known to be there.
  bool is_off = false;
  int looks = 0;  ///< Polls in vain at a message whose next piece is there.
  std::chrono::steady_clock::time_point since{};
  /// To be called once for each of these polls.
  [[nodiscard]] bool has_waited_long();
};

/// The joint reductions of one execution.
class JointReductions {
 public:
  explicit JointReductions(PortContext& context) : context_(&context), joints_(context.plan->joints.size()) {}

  /// A new run.
  void begin() { std::ranges::fill(joints_, Joint{}); }
  [[nodiscard]] Joint& at(int joint) { return joints_[static_cast<std::size_t>(joint)]; }
  [[nodiscard]] const Joint& at(int joint) const { return joints_[static_cast<std::size_t>(joint)]; }
  /// Reduces the pieces that are there, for a receive that is part of a joint reduction and next in its order. True
  /// once all of the reduction is done.
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
  std::vector<Joint> joints_;  ///< One for each of SharedPlan::joints.
};

}  // namespace tutti::shm
