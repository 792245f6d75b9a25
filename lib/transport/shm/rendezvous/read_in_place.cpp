// How ShmPort sends and receives what is read where it is (rendezvous get): in Tutti memory, or in the sender's own.
#include <algorithm>
#include <cerrno>

#include "lib/transport/shm/shm_port.hpp"

namespace tutti::shm {

/// Lets the receiver read a piece where it is.
void ShmPort::lend(Transfer& transfer, std::int64_t source) {
  const CompiledStep& step = *transfer.step;
  Loan loan{.source = source};
  if (const SideStep& side = side_of(step); side.answer >= 0) {
    const std::byte* const answer = (*bases_)[static_cast<std::size_t>(side.answer_into)] + side.answer_at;
    loan.answer = heap_->offset_of(answer + transfer.done, step.bytes - transfer.done);
    loan.answer_message = side.answer;
  }
  transfer.loan = transfer.channel->lend(stream_of(step, transfer.done), envelope_of(step), loan);
}

/// Reads a piece in the sender's memory. Its reduction goes to where the sender wants it, too, if it says where.
void ShmPort::borrow(const Transfer& transfer, const Loan& loan, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  const std::byte* const piece = heap_->at(loan.source);
  ++route_.counters->in_place;
  const int forward = side_of(step).forward;
  if (forward < 0 || loan.answer < 0) return take(step, transfer.rest(), piece, bytes);
  const CompiledStep& next = plan_->steps[static_cast<std::size_t>(forward)];
  std::int64_t& delivered = delivered_[static_cast<std::size_t>(forward)];
  if (next.peer != step.peer || next.message != loan.answer_message || delivered != transfer.done)
    return take(step, transfer.rest(), piece, bytes);
  combine(transfer, piece, heap_->at(loan.answer), bytes);
  delivered += bytes;
}

/// Whether a message may be read in this rank's own memory: it is long, shares no copy, and is in a ring, where
/// messages that are refused can follow. The receiver might come late, so nothing of this rank may wait for it but the
/// end.
bool ShmPort::may_expose(const CompiledStep& step) const {
  return route_.single_copy == SingleCopyUse::always && step.bytes >= least_exposed && side_of(step).way == Way::ring &&
         side_of(step).group < 0 && step.first_dependent == step.last_dependent &&
         route_.links->may_be_read_by(local_of(step));
}

/// All of a message. Other than with loans from the heap the next one of its pair waits, as this one may come again.
bool ShmPort::expose(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (transfer.is_refused || !may_expose(step)) return false;
  transfer.loan = transfer.channel->expose(stream_of(step, 0), envelope_of(step), transfer.data.lhs);
  transfer.done = step.bytes;
  transfer.is_exposed = true;
  return true;
}

/// Whether a send is over all of which the receiver reads. If it could not, the rest is staged.
bool ShmPort::is_read(Transfer& transfer) {
  if (!transfer.channel->has_read(lane_, transfer.loan)) return false;
  if (!transfer.is_exposed) return true;
  const std::int64_t refused_from = transfer.channel->refused_from(lane_);
  if (refused_from < 0) {
    completed(transfer.index, *transfer.step);
    return true;
  }
  transfer.is_exposed = false;
  transfer.is_refused = true;
  transfer.loan = 0;
  transfer.done = refused_from;
  return false;
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
  const auto source = static_cast<std::uint64_t>(incoming.loan().source + transfer.done);
  const SingleCopy::Outcome outcome = read_exposed(transfer, source, step.bytes - transfer.done);
  transfer.done += outcome.is_complete() ? outcome.bytes : whole_pieces(outcome.bytes);
  if (outcome.is_complete() && transfer.done < step.bytes) return Received::piece_in_place;
  if (outcome.is_complete()) {
    ++route_.counters->single_copies;
  } else {
    transfer.channel->refuse(stream.lane, transfer.done);
    transfer.awaited = {};  // which has come
    route_.links->may_read(local_of(step), false);
    ++route_.counters->refused;
  }
  transfer.channel->release(stream, came);
  return outcome.is_complete() ? Received::piece : Received::nothing;
}

void ShmPort::abandon() noexcept {
  // The program may use its buffers again: nobody must take what is in them then for what was sent.
  if (std::ranges::any_of(sends_, &Transfer::is_exposed)) route_.links->hide();
  sends_.clear();
  recvs_.clear();
  std::ranges::fill(parked_, Transfer{});
  if (sharing_) sharing_->abandon();
}

}  // namespace tutti::shm
