// How ShmPort sends and receives what is read where it is: in Tutti memory, or in the sender's own.
#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <thread>

#include "lib/plan/compiled_plan.hpp"
#include "lib/transport/shm/shm_port.hpp"

namespace tutti::shm {

/// Lets the receiver read a piece where it is.
void ShmPort::lend(Transfer& transfer, std::int64_t source) {
  const CompiledStep& step = *transfer.step;
  Loan loan{.source = source};
  if (transfer.data.into != nullptr) {
    loan.answer = heap_->offset_of(transfer.data.into + transfer.done, step.bytes - transfer.done);
    loan.answer_message = step.answer;
  }
  transfer.loan = transfer.channel->lend(stream_of(step, transfer.done), envelope_of(step), loan);
}

/// Reads a piece in the sender's memory. Its reduction goes to where the sender wants it, too, if it says where.
void ShmPort::borrow(const Transfer& transfer, const Loan& loan, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  const std::byte* const piece = heap_->at(loan.source);
  ++route_.counters->in_place;
  if (step.forward < 0 || loan.answer < 0) return take(step, transfer.rest(), piece, bytes);
  const CompiledStep& next = plan_->steps[static_cast<std::size_t>(step.forward)];
  std::int64_t& delivered = delivered_[static_cast<std::size_t>(step.forward)];
  if (next.peer != step.peer || next.message != loan.answer_message || delivered != transfer.done)
    return take(step, transfer.rest(), piece, bytes);
  combine(transfer, piece, heap_->at(loan.answer), bytes);
  delivered += bytes;
}

/// All of a message, if that is wished. Other than with loans from the heap the next one of its pair waits, as this one
/// may come again.
bool ShmPort::expose(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (transfer.is_refused || !exposures_->may_expose(step) || !exposures_->is_wished(step)) return false;
  exposures_->sends(step, Exposures::Way::exposed);
  const bool may_help = has_time_ || exposures_->is_pushed(step);
  transfer.helps = may_help && SharedCopy::serves(step.bytes) && route_.links->wishes(local_of(step)).can_write();
  transfer.loan = transfer.channel->expose(stream_of(step, 0), envelope_of(step), transfer.data.lhs, transfer.helps);
  transfer.done = step.bytes;
  transfer.is_exposed = true;
  return true;
}

/// Whether a send is over all of which the receiver reads. If it could not, the rest is staged.
bool ShmPort::is_read(Transfer& transfer) {
  if (!transfer.channel->has_read(lane_, transfer.loan)) {
    if (transfer.helps) help(transfer);
    return false;
  }
  if (!transfer.is_exposed) return true;
  const std::int64_t refused_from = transfer.channel->refused_from(lane_);
  if (refused_from < 0) {
    if (transfer.helped > 0) ++route_.counters->shared_copies;
    completed(transfer.index, *transfer.step);
    return true;
  }
  transfer.is_exposed = false;
  transfer.is_refused = true;
  transfer.loan = 0;
  transfer.done = refused_from;
  return false;
}

/// Copies, or reduces, a part of an exposed message to where it belongs, if its receiver has said where and something
/// is left.
void ShmPort::help(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  SharedCopy copy = transfer.channel->sent_copy(lane_, step.bytes);
  const std::optional<SharedCopy::Kind> kind = copy.opened_as();
  if (!kind) return;
  const SharedCopy::Part part = copy.take_last();
  if (part.bytes == 0) return;
  const auto begin = Exposures::Clock::now();
  if (*kind == SharedCopy::Kind::copied ? write_part(transfer, copy, part) : reduce_part(transfer, copy, part, *kind)) {
    copy.has_written();
    transfer.helped += part.bytes;
  } else {
    copy.fails();
    transfer.helps = false;
    route_.links->wishes(local_of(step)).can_write(false);
  }
  exposures_->works(step, Exposures::Clock::now() - begin);
}

bool ShmPort::write_part(const Transfer& transfer, const SharedCopy& copy, SharedCopy::Part part) const {
  const auto [offset, bytes] = part;
  const std::byte* const data = transfer.data.lhs + offset;
  return route_.links->write(local_of(*transfer.step), data, copy.target_of(offset), bytes).is_complete();
}

/// As the receiver would.
bool ShmPort::reduce_part(const Transfer& transfer, const SharedCopy& copy, SharedCopy::Part part,
                          SharedCopy::Kind kind) const {
  const int peer = local_of(*transfer.step);
  const std::span<std::byte> room = route_.links->room();
  for (std::int64_t done = 0; done < part.bytes; done += std::ssize(room)) {
    const std::int64_t offset = part.begin + done, bytes = std::min(part.bytes - done, std::ssize(room));
    if (!route_.links->read(peer, copy.operand_of(offset), room.data(), bytes).is_complete()) return false;
    const std::byte *mine = transfer.data.lhs + offset, *theirs = room.data();
    const bool is_left = kind == SharedCopy::Kind::reduced_left;
    plan_->combine(is_left ? mine : theirs, is_left ? theirs : mine, room.data(), bytes);
    if (!route_.links->write(peer, room.data(), copy.target_of(offset), bytes).is_complete()) return false;
  }
  return true;
}

/// Says where a message belongs, so that its sender can do a part of the work. Not of what is reduced by the program's
/// own operation, or in place: if the rest was refused, a part would count twice.
void ShmPort::share(Transfer& transfer) const {
  using Kind = SharedCopy::Kind;
  using First = SharedCopy::First;
  const CompiledStep& step = *transfer.step;
  if (!SharedCopy::serves(step.bytes)) return;
  const std::byte* const operand = step.lands_left ? transfer.data.rhs : transfer.data.lhs;
  const bool is_reduced = step.verb == Verb::recv_reduce, is_pushed = exposures_->is_pushed(step);
  if (is_reduced && (is_pushed || operand == transfer.data.into || plan_->reduce == nullptr)) return;
  const Kind kind = !is_reduced ? Kind::copied : step.lands_left ? Kind::reduced_left : Kind::reduced_right;
  const First first = is_pushed || plan_->steps.size() > 1 ? First::none : is_reduced ? First::most : First::half;
  SharedCopy copy = transfer.channel->received_copy(lane_, step.bytes);
  transfer.reserved = copy.open(kind, transfer.data.into, operand, first).bytes;
  transfer.sharing = Transfer::Sharing::open;
}

/// Of this rank's next part of a message, or all that is left as the sender has done it; nothing while it does.
SingleCopy::Outcome ShmPort::read_share(Transfer& transfer, std::uint64_t source) const {
  const CompiledStep& step = *transfer.step;
  SharedCopy copy = transfer.channel->received_copy(lane_, step.bytes);
  if (transfer.reserved == 0 && !exposures_->is_pushed(step)) transfer.reserved = copy.take_first().bytes;
  if (transfer.reserved > 0) {
    const SingleCopy::Outcome outcome = read_exposed(transfer, source, transfer.reserved);
    transfer.reserved -= outcome.bytes;
    if (!outcome.is_complete()) end_sharing(transfer);
    return outcome;
  }
  if (copy.is_written()) return {.bytes = step.bytes - transfer.done};
  if (copy.has_failed()) withdraw(transfer);
  return {};
}

/// The sender writes no more; what it has begun to write is there, or it is gone.
void ShmPort::end_sharing(Transfer& transfer) const {
  const CompiledStep& step = *transfer.step;
  SharedCopy copy = transfer.channel->received_copy(lane_, step.bytes);
  copy.close();
  while (!copy.is_written() && !copy.has_failed() && !route_.links->is_gone(local_of(step)))
    std::this_thread::yield();
  withdraw(transfer);
}

/// All of a message is here, or comes without its sender's help.
void ShmPort::withdraw(Transfer& transfer) const {
  transfer.channel->received_copy(lane_, transfer.step->bytes).end();
  transfer.sharing = Transfer::Sharing::ended;
}

/// Of `left` bytes as much as is read before other messages are looked at. What is reduced is read to where the result
/// belongs, and reduced there while it is in the caches; in place to where the schedule lets the message land.
SingleCopy::Outcome ShmPort::read_exposed(const Transfer& transfer, std::uint64_t source, std::int64_t left) const {
  constexpr std::int64_t most = std::int64_t{1} << 20, most_reduced = std::int64_t{256} << 10;
  const CompiledStep& step = *transfer.step;
  const int owner = local_of(step);
  const Operands rest = transfer.rest();
  if (step.verb == Verb::recv) return route_.links->read(owner, source, rest.into, std::min(left, most));
  const bool is_in_place = (step.lands_left ? rest.rhs : rest.lhs) == rest.into;
  std::byte* const landing = step.lands_left ? transfer.data.lhs : transfer.data.rhs;
  std::byte* const piece = is_in_place ? landing : rest.into;
  const SingleCopy::Outcome outcome = route_.links->read(owner, source, piece, std::min(left, most_reduced));
  const std::int64_t whole = outcome.is_complete() ? outcome.bytes : whole_pieces(outcome.bytes);
  if (whole > 0) take(step, rest, piece, whole);
  return outcome;
}

/// The envelope stays where it is until all has been read, or the rest was refused.
ShmPort::Received ShmPort::receive_exposed(Transfer& transfer, const Channel::Incoming& incoming,
                                           const Envelope& came) {
  const CompiledStep& step = *transfer.step;
  const Stream stream = stream_of(step, transfer.done);
  const Loan loan = incoming.loan();
  if (transfer.done == 0) {
    exposures_->arrives(step, Exposures::Way::exposed, {});
    if (loan.helps == 0) withdraw(transfer);
    if (transfer.sharing == Transfer::Sharing::none && exposures_->may_be_read(step)) share(transfer);
  }
  const auto source = static_cast<std::uint64_t>(loan.source + transfer.done);
  SingleCopy::Outcome outcome{.error = ENOTSUP};
  const auto begin = Exposures::Clock::now();
  if (exposures_->may_be_read(step))
    outcome = transfer.sharing == Transfer::Sharing::open ? read_share(transfer, source)
                                                          : read_exposed(transfer, source, step.bytes - transfer.done);
  exposures_->works(step, Exposures::Clock::now() - begin);
  transfer.done += outcome.is_complete() ? outcome.bytes : whole_pieces(outcome.bytes);
  if (outcome.is_complete() && transfer.done < step.bytes) return Received::piece_in_place;
  if (outcome.is_complete()) {
    if (transfer.sharing == Transfer::Sharing::open) withdraw(transfer);
    ++route_.counters->single_copies;
  } else {
    transfer.channel->refuse(stream.lane, transfer.done);
    transfer.awaited = {};  // which has come
    exposures_->refuses(step);
    if (exposures_->may_be_read(step)) ++route_.counters->refused;
  }
  transfer.channel->release(stream, came);
  return outcome.is_complete() ? Received::piece : Received::nothing;
}

void ShmPort::abandon() noexcept {
  // The program may use its buffers again: nobody must take what is in them then for what was sent.
  if (std::ranges::any_of(sends_, &Transfer::is_exposed)) route_.links->hide();
  for (Transfer& transfer : recvs_)
    if (transfer.sharing == Transfer::Sharing::open) end_sharing(transfer);
  sends_.clear();
  recvs_.clear();
  std::ranges::fill(parked_, Transfer{});
  if (sharing_) sharing_->abandon();
}

}  // namespace tutti::shm
