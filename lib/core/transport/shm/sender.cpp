#include "lib/core/transport/shm/sender.hpp"

#include <fmt/format.h>

#include "tutti/error.hpp"

namespace tutti::shm {
namespace {

/// Nobody who keeps to the protocol writes that to shared memory.
[[noreturn]] void throw_damaged(const CompiledStep& step, std::string_view what) {
  throw Error(fmt::format("send to rank {}: it {}: the memory that the two ranks share is damaged", step.peer, what));
}

}  // namespace

Sender::Sender(PortContext& context) : context_(&context) {
  if (context.plan->groups > 0) sharing_.emplace(context.route, *context.plan);
}

bool Sender::send_piece(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  Ring& ring = context_->ring_of(step);
  if (!ring.may_send()) {
    if (ring.is_overdrawn()) throw_damaged(step, "gave back cells that it does not have");
    return false;
  }
  const std::byte* const data = transfer.data.lhs + transfer.done;
  std::int64_t bytes = std::min(step.bytes - transfer.done, context_->piece_bytes);
  const auto index = static_cast<std::size_t>(transfer.index);
  if (bytes <= context_->cell_bytes)
    context_->send_in_cell(ring, step, data, bytes);
  else if (!context_->delivered.empty() && context_->delivered[index] > transfer.done)
    ring.send(context_->envelope_of(step, Where::delivered), nullptr, 0);
  else if (const std::int64_t source = context_->lent_from(step, data, bytes); source >= 0)
    lend(transfer, source);
  else
    bytes = send_bounced(transfer, data, bytes);
  transfer.done += bytes;
  return bytes > 0 || step.bytes == 0;
}

Bounce Sender::take(Channel& channel, std::size_t bytes) const {
  const Bounce bounce = channel.take(bytes);
  if (bounce.data != nullptr || context_->route.links->pool().free() > 0) return bounce;
  context_->route.links->collect();
  return channel.take(bytes);
}

void Sender::send_in(const Bounce& bounce, const CompiledStep& step, const std::byte* data, std::size_t bytes) {
  const std::size_t phase = phase_of(data);
  if (bounce.where == Where::returned)  // this rank has just read there
    std::memcpy(bounce.data + phase, data, bytes);
  else
    context_->route.write_cold(bounce.data + phase, data, bytes);
  context_->channel_of(step).send(context_->lane, context_->envelope_of(step), bounce, phase);
}

/// Sends a piece in a bounce buffer, and returns how many bytes were sent. While other messages hold all buffers, a
/// message goes on in cells: these need nothing but a receiver that has read the messages before.
std::int64_t Sender::send_bounced(Transfer& transfer, const std::byte* data, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  const auto size = static_cast<std::size_t>(bytes);
  if (context_->side_of(step).group >= 0) {
    if (send_shared(transfer, data, size)) return bytes;
    // A copy of its own costs more than a short wait, but the other readers must not keep it for long.
    if (transfer.looks++ < context_->route.patience) return 0;
  }
  Channel& channel = context_->channel_of(step);
  Bounce bounce = take(channel, size);
  if (bounce.data == nullptr && channel.has_false_return())
    throw_damaged(step, "gave back a bounce buffer that it does not have");
  if (bounce.data == nullptr && transfer.looks++ < context_->route.patience) return 0;
  if (bounce.data == nullptr) bounce = take(channel, 1);  // messages of another lane may be those that are not read
  if (bounce.data != nullptr) {
    send_in(bounce, step, data, size);
    transfer.looks = 0;
    return bytes;
  }
  const std::int64_t part = context_->plan->piece_of(context_->cell_bytes);
  context_->send_in_cell(channel.ring(context_->lane), step, data, part);
  return part;
}

bool Sender::send_shared(const Transfer& transfer, const std::byte* data, std::size_t bytes) {
  const CompiledStep& step = *transfer.step;
  const int buffer = sharing_->publish(context_->side_of(step).group, transfer.done, data, bytes);
  if (buffer < 0) return false;
  const Bounce bounce{context_->route.links->pool().at(buffer), Where::shared, buffer};
  context_->channel_of(step).send(context_->lane, context_->envelope_of(step), bounce, phase_of(data));
  return true;
}

/// Lets the receiver read a piece where it is.
void Sender::lend(Transfer& transfer, std::int64_t source) {
  const CompiledStep& step = *transfer.step;
  Loan loan{.source = source};
  if (const SideStep& side = context_->side_of(step); side.answer >= 0) {
    const std::byte* const answer = context_->bases->at(side.answer_into, side.answer_at);
    loan.answer = context_->heap->offset_of(answer + transfer.done, step.bytes - transfer.done);
    loan.answer_message = side.answer;
  }
  transfer.loan = context_->ring_of(step).lend(context_->envelope_of(step, Where::lent), loan);
}

bool Sender::forward(const Transfer& received, int next, const std::byte* piece, std::int64_t bytes) {
  const CompiledStep& step = context_->plan->steps[static_cast<std::size_t>(next)];
  std::int64_t& forwarded = context_->forwarded[static_cast<std::size_t>(next)];
  const std::byte* const result = received.data.into + received.done;
  if (forwarded != received.done || context_->side_of(step).group >= 0 ||
      context_->lent_from(step, result, bytes) >= 0)  // it will be read in place
    return false;
  Channel& channel = context_->channel_of(step);
  if (!channel.ring(context_->lane).may_send()) return false;
  const Bounce bounce = channel.take(static_cast<std::size_t>(bytes));
  if (bounce.data == nullptr) return false;
  const std::size_t phase = phase_of(result);
  context_->take(*received.step, received.rest(), piece, bounce.data + phase, bytes);
  channel.send(context_->lane, context_->envelope_of(step), bounce, phase);
  forwarded += bytes;
  ++context_->route.counters->forwarded;
  return true;
}

}  // namespace tutti::shm
