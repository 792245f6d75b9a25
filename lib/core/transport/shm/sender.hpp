#pragma once
// How a message is sent: in an eager cell, in bounce buffers, or so that the receiver reads it where it is.

#include <algorithm>
#include <optional>

#include "lib/core/transport/shm/piece_sharing.hpp"
#include "lib/core/transport/shm/port_context.hpp"
#include "lib/core/transport/shm/transfer.hpp"

namespace tutti::shm {

class Sender {
 public:
  explicit Sender(PortContext& context);

  /// A new run.
  void begin() {
    if (sharing_) sharing_->begin();
  }
  /// Sends a message that fits a cell and is next. False: there is no cell.
  bool send_in_cell(const CompiledStep& step, const std::byte* data) {
    Ring& ring = context_->ring_of(step);
    if (!ring.may_send()) return false;
    context_->send_in_cell(ring, step, data, step.bytes);
    return true;
  }
  /// Sends a message of one piece, looking again for as long as `again()` says. False: it is still to be sent.
  template <class Again>
  bool send_now(const CompiledStep& step, const std::byte* data, Again& again) {
    Channel& channel = context_->channel_of(step);
    Ring& ring = channel.ring(context_->lane);
    while (!ring.may_send())
      if (!again()) return false;
    if (context_->fits_cell(step)) {
      context_->send_in_cell(ring, step, data, step.bytes);
      return true;
    }
    if (context_->lent_from(step, data, step.bytes) >= 0) return false;  // the usual way
    const auto bytes = static_cast<std::size_t>(step.bytes);
    Bounce bounce = take(channel, bytes);
    for (; bounce.data == nullptr; bounce = take(channel, bytes))
      if (!again()) return false;
    send_in(bounce, step, data, bytes);
    return true;
  }
  /// Sends the next piece of a message. False: not yet.
  bool send_piece(Transfer& transfer);
  /// Whether the receiver has read all that it reads in place of a send.
  [[nodiscard]] bool is_read(const Transfer& transfer) const {
    return context_->ring_of(*transfer.step).has_read(transfer.loan);
  }
  /// Reduces a piece of a message and sends the result on in the same pass, if it is that of send `next`, which is
  /// next. False, with nothing done: it has to be sent later.
  bool forward(const Transfer& received, int next, const std::byte* piece, std::int64_t bytes);
  /// The message has been sent.
  void complete(const CompiledStep& step) {
    if (const int group = context_->side_of(step).group; group >= 0) sharing_->completed(group);
  }
  void abandon() noexcept {
    if (sharing_) sharing_->abandon();
  }

 private:
  [[nodiscard]] Bounce take(Channel& channel, std::size_t bytes) const;
  void send_in(const Bounce& bounce, const CompiledStep& step, const std::byte* data, std::size_t bytes);
  [[nodiscard]] std::int64_t send_bounced(Transfer& transfer, const std::byte* data, std::int64_t bytes);
  [[nodiscard]] bool send_shared(const Transfer& transfer, const std::byte* data, std::size_t bytes);
  void lend(Transfer& transfer, std::int64_t source);

  PortContext* context_;
  std::optional<PieceSharing> sharing_;  ///< If any sends of the plan can share.
};

}  // namespace tutti::shm
