#pragma once
// Which message of a pair and direction is next: a message is sent, or received, when all before it are.

#include <cstdint>
#include <vector>

#include "lib/core/transport/shm/port_context.hpp"
#include "lib/core/transport/shm/transfer.hpp"

namespace tutti::shm {

class MessageOrder {
 public:
  explicit MessageOrder(PortContext& context);

  /// A new run: all messages are still to come.
  void begin();
  [[nodiscard]] bool is_next(int index, const CompiledStep& step) const {
    if (!numbers_.empty()) return queue_of(step).done == numbers_[static_cast<std::size_t>(index)];
    return step.previous < 0 || completed_[static_cast<std::size_t>(step.previous)] == run_;
  }
  /// The message has been sent or received. Returns the one after it if it was parked; nullptr: it was not.
  Transfer* complete(int index, const CompiledStep& step) {
    completed_[static_cast<std::size_t>(index)] = run_;
    if (!numbers_.empty()) ++queue_of(step).done;
    if (step.next < 0 || parked_.empty() || parked_[static_cast<std::size_t>(step.next)].index < 0) return nullptr;
    return &parked_[static_cast<std::size_t>(step.next)];
  }
  /// Keeps a message that is not next until the one before it is over, so that nobody looks at it meanwhile: looks take
  /// no longer the more there are. False: it is next, or messages take no turns.
  bool park(const Transfer& transfer) {
    if (parked_.empty() || is_next(transfer.index, *transfer.step)) return false;
    parked_[static_cast<std::size_t>(transfer.index)] = transfer;
    return true;
  }
  void abandon() noexcept;

 private:
  [[nodiscard]] Links::Queue& queue_of(const CompiledStep& step) const;

  PortContext* context_;
  std::uint32_t run_ = 0;
  std::vector<std::uint32_t> completed_;  ///< Per step: the run in which it was last complete.
  std::vector<std::uint64_t> numbers_;  ///< Per step of a plan that takes no turns: its place in the queue; else empty.
  std::vector<Transfer> parked_;        ///< Per step of a plan that takes turns and has messages which follow others.
};

}  // namespace tutti::shm
