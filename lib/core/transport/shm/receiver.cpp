#include "lib/core/transport/shm/receiver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/error.hpp"

namespace tutti::shm {

namespace {

/// No sender writes such an envelope.
[[noreturn]] void throw_damaged(const CompiledStep& step, std::string_view what) {
  throw Error(fmt::format("receive from rank {}: {}: the memory that the two ranks share is damaged", step.peer, what));
}

[[noreturn]] void throw_no_buffer(const CompiledStep& step, const Envelope& came) {
  throw_damaged(step, fmt::format("data came at byte {} of bounce buffer {}", came.phase, came.number));
}

}  // namespace

void require_expected(const CompiledStep& step, const Envelope& came, const Envelope& expected) {
  if (came.where > Where::failed)
    throw_damaged(step, fmt::format("data came in an unknown way, {}", static_cast<int>(came.where)));
  if (came.is_same(expected)) return;
  if (came.bytes != expected.bytes) throw WrongMessage::of_length(step.peer, came.bytes, expected.bytes);
  throw WrongMessage(step.peer, fmt::format("message {} of another call arrived where message {} was expected",
                                            came.message, expected.message));
}

void throw_failed(const CompiledStep& step) {
  throw Error(fmt::format("receive from rank {}: it has lost the memory of its data, which was freed during the call",
                          step.peer));
}

Received Receiver::receive_piece(Transfer& transfer, Sender& sender, const MessageOrder& order) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = context_->channel_of(step);
  std::int64_t bytes = std::min(step.bytes - transfer.done, context_->piece_bytes);
  const Incoming incoming = channel.ring(context_->lane).incoming();
  transfer.awaited = incoming;
  if (bytes <= context_->cell_bytes) incoming.expect(static_cast<std::size_t>(bytes));
  if (!incoming.is_there()) return Received::nothing;
  const Envelope came = incoming.envelope();
  if (is_of_earlier_communicator(came)) return drop(transfer, came);
  require_expected(step, came, context_->envelope_of(step));
  const std::byte* const mapped = context_->mapped_piece(step, came, bytes);
  switch (came.where) {
    case Where::cell:
      if (!is_part(transfer, came)) throw_damaged(step, fmt::format("{} bytes came in a cell", came.number));
      bytes = came.number;
      if (!receive_from_cell(step, transfer.rest(), incoming, bytes)) return Received::nothing;
      break;
    case Where::on_device:
      if (transfer.done > 0) throw_damaged(step, "the rest of a message came on a device");
      return refuse_device(transfer, came);
    case Where::failed:
      throw_failed(step);
    case Where::lent:
      borrow(transfer, incoming.loan(), mapped, bytes);
      break;
    case Where::delivered:
      ++context_->route.counters->delivered;
      break;
    case Where::bounce:
    case Where::shared:
    case Where::returned:
      if (mapped == nullptr) throw_no_buffer(step, came);
      receive_bounced(transfer, mapped, bytes, sender, order);
      break;
  }
  channel.release(context_->lane, came);
  transfer.done += bytes;
  return came.where == Where::lent ? Received::piece_in_place : Received::piece;
}

/// A message that nobody received, and that is part of no collective. Its sender was done with it: it is in cells and
/// bounce buffers alone.
bool Receiver::is_of_earlier_communicator(const Envelope& came) const {
  const bool is_buffered = came.where == Where::cell || came.where == Where::bounce || came.where == Where::returned;
  return !context_->plan->takes_turns && came.operation != context_->sequence && is_buffered;
}

Received Receiver::drop(Transfer& transfer, const Envelope& came) const {
  Channel& channel = context_->channel_of(*transfer.step);
  if (came.where != Where::cell && !channel.has(came)) throw_no_buffer(*transfer.step, came);
  transfer.awaited = {};
  channel.release(context_->lane, came);
  return Received::nothing;
}

/// Whether a cell has as many bytes as it can of what has not come yet: whole elements, or all.
bool Receiver::is_part(const Transfer& transfer, const Envelope& came) const {
  const std::int64_t left = transfer.step->bytes - transfer.done;
  const bool is_piece = came.number > 0 && context_->plan->piece_of(came.number) == came.number;
  return context_->fits_cell(came) && (came.number == left || (came.number < left && is_piece));
}

bool Receiver::receive_from_cell(const CompiledStep& step, const Operands& data, const Incoming& incoming,
                                 std::int64_t bytes) const {
  const auto size = static_cast<std::size_t>(bytes);
  if (step.is_moved_only()) return incoming.read(data.into, size);
  if (size <= in_first_line) {
    context_->take(step, data, incoming.data(), bytes);
    return true;
  }
  constexpr auto most = static_cast<std::size_t>(tuning.cell_bytes);
  alignas(line_bytes) std::array<std::byte, most> arrived;  // NOLINT(cppcoreguidelines-pro-type-member-init): costs
  if (!incoming.read(arrived.data(), size)) return false;
  context_->take(step, data, arrived.data(), bytes);
  return true;
}

void Receiver::receive_bounced(const Transfer& transfer, const std::byte* piece, std::int64_t bytes, Sender& sender,
                               const MessageOrder& order) const {
  const CompiledStep& step = *transfer.step;
  const int next = context_->side_of(step).forward;
  if (next >= 0 && order.is_next(next, context_->plan->steps[static_cast<std::size_t>(next)]) &&
      sender.forward(transfer, next, piece, bytes))
    return;
  context_->take(step, transfer.rest(), piece, bytes);
}

/// Reads a piece in the sender's memory. Its reduction goes to where the sender wants it, too, if it says where.
void Receiver::borrow(const Transfer& transfer, const Loan& loan, const std::byte* piece, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  const bool has_answer = context_->is_in_heap(step, loan.answer, bytes);
  if (piece == nullptr || (loan.answer >= 0 && !has_answer))
    throw_damaged(step, fmt::format("{} bytes came at {} of Tutti memory, their answer belongs at {}", bytes,
                                    loan.source, loan.answer));
  ++context_->route.counters->lent;
  const int forward = context_->side_of(step).forward;
  if (forward < 0 || !has_answer) return context_->take(step, transfer.rest(), piece, bytes);
  const CompiledStep& next = context_->plan->steps[static_cast<std::size_t>(forward)];
  std::int64_t& delivered = context_->delivered[static_cast<std::size_t>(forward)];
  if (next.peer != step.peer || next.message != loan.answer_message || delivered != transfer.done)
    return context_->take(step, transfer.rest(), piece, bytes);
  context_->take(step, transfer.rest(), piece, context_->heap->at(loan.answer, bytes), bytes);
  delivered += bytes;
}

/// Data on a device that are wanted in memory of the host: their sender has to bring them there.
Received Receiver::refuse_device(Transfer& transfer, const Envelope& came) const {
  Channel& channel = context_->channel_of(*transfer.step);
  channel.ring(context_->lane).refuse();
  transfer.awaited = {};
  channel.release(context_->lane, came);
  return Received::nothing;
}

void Receiver::require_same_kind(const CompiledStep& step) const {
  const Channel& channel = context_->channel_of(step);
  for (int lane = 0; lane < context_->route.links->geometry().lanes; ++lane) {
    const Incoming incoming = channel.ring(lane).incoming();
    if (lane == context_->lane || !incoming.is_there() || incoming.envelope().operation != context_->sequence) continue;
    throw WrongMessage(step.peer,
                       "it makes another kind of call (blocking, nonblocking or persistent); these "
                       "do not match each other");
  }
}

}  // namespace tutti::shm
