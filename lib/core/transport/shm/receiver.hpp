#pragma once
// How a message is received, from wherever its pieces are, and reduced as they arrive.

#include "lib/core/transport/shm/message_order.hpp"
#include "lib/core/transport/shm/port_context.hpp"
#include "lib/core/transport/shm/sender.hpp"
#include "lib/core/transport/shm/transfer.hpp"

namespace tutti::shm {

/// Throws Error if a message is not the one that its receiver expects, as its sender made another call, or is none that
/// any sender writes.
void require_expected(const CompiledStep& step, const Envelope& came, const Envelope& expected);
/// The sender of a message has failed.
[[noreturn]] void throw_failed(const CompiledStep& step);

enum class Received : std::uint8_t { nothing, piece, piece_in_place };

class Receiver {
 public:
  explicit Receiver(PortContext& context) : context_(&context) {}

  /// Receives a message of one piece; polls for as long as `again()` says. False: the message is still to be received.
  /// So is a message other than the expected one: receive_piece() says what is wrong with it.
  template <class Again>
  bool receive_now(const CompiledStep& step, const Operands& data, Again& again) {
    Channel& channel = context_->channel_of(step);
    const Incoming incoming = channel.ring(context_->lane).incoming();
    const bool in_cell = context_->fits_cell(step);
    if (in_cell) incoming.expect(static_cast<std::size_t>(step.bytes));
    while (!incoming.is_there())
      if (!again()) return false;
    const Envelope came = incoming.envelope();
    if (!came.is_same(context_->envelope_of(step)) || (came.where == Where::cell) != in_cell ||
        came.where > Where::returned || (!in_cell && !channel.has(came)))
      return false;
    if (in_cell) {
      while (!receive_from_cell(step, data, incoming, step.bytes))
        if (!again()) return false;
    } else {
      context_->take(step, data, channel.piece(came), step.bytes);
    }
    channel.release(context_->lane, came);
    return true;
  }
  /// Receives the next piece, if it is there, of a message that is next in its order. Throws Error if the piece is of
  /// another message. If its result is to be forwarded in the same pass, `sender` sends it, once `order` says that its
  /// turn has come.
  Received receive_piece(Transfer& transfer, Sender& sender, const MessageOrder& order);
  /// Throws Error if a message that is waited for has come in another lane: another kind of call.
  void require_same_kind(const CompiledStep& step) const;

 private:
  [[nodiscard]] bool is_of_earlier_communicator(const Envelope& came) const;
  Received drop(Transfer& transfer, const Envelope& came) const;
  [[nodiscard]] bool is_part(const Transfer& transfer, const Envelope& came) const;
  bool receive_from_cell(const CompiledStep& step, const Operands& data, const Incoming& incoming,
                         std::int64_t bytes) const;
  void receive_bounced(const Transfer& transfer, const std::byte* piece, std::int64_t bytes, Sender& sender,
                       const MessageOrder& order) const;
  void borrow(const Transfer& transfer, const Loan& loan, const std::byte* piece, std::int64_t bytes);
  Received refuse_device(Transfer& transfer, const Envelope& came) const;

  PortContext* context_;
};

}  // namespace tutti::shm
