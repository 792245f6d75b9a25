// How ShmPort reduces in one pass over memory what several ranks send, or what it sends on.
#include <algorithm>
#include <array>

#include "lib/transport/shm/shm_port.hpp"

namespace tutti::shm {
namespace {

/// So long a message that is there waits for others: its sender may need the room.
constexpr std::chrono::milliseconds joint_patience{10};
constexpr int looks_at_the_clock = 16;  // a look at it costs as much as several at a message

}  // namespace

bool Joint::has_waited_long() {
  if (++looks % looks_at_the_clock != 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (looks == looks_at_the_clock) since = now;
  return now - since > joint_patience;
}

/// Once more for the joint reduction that receive `index` is part of. True once all of it is done.
bool ShmPort::reduce_jointly(int index, const CompiledStep& step) {
  if (!is_next(index, step)) return false;
  const JointReduction& joint = plan_->joints[static_cast<std::size_t>(side_of(step).joint)];
  Joint& at = joints_[static_cast<std::size_t>(side_of(step).joint)];
  while (are_there(joint, at) && take_jointly(joint, at))
    if (at.done == joint.bytes) {
      for (const JointReduction::Operand& operand : joint.operands)
        if (operand.message >= 0) completed(operand.message, plan_->steps[static_cast<std::size_t>(operand.message)]);
      return true;
    }
  if (channel_of(step)->incoming(stream_of(step, at.done)).is_there()) at.is_off |= at.has_waited_long();
  return false;
}

/// Whether the next pieces of all messages are.
bool ShmPort::are_there(const JointReduction& joint, Joint& at) const {
  for (; at.there < joint.operands.size(); ++at.there) {
    const int message = joint.operands[at.there].message;
    if (message < 0) continue;
    const CompiledStep& step = plan_->steps[static_cast<std::size_t>(message)];
    if (!is_next(message, step) || !channel_of(step)->incoming(stream_of(step, at.done)).is_there()) return false;
  }
  return true;
}

/// The next pieces, which are there. False: one is for who receives it alone, as are all that follow.
bool ShmPort::take_jointly(const JointReduction& joint, Joint& at) {
  constexpr std::size_t most = JointReduction::most_operands;
  constexpr auto room = static_cast<std::size_t>(Geometry{}.inline_bytes);
  alignas(line_bytes) std::array<std::byte, most * room> arrived;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<const void*, most> pieces;                            // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<Envelope, most> envelopes;                            // NOLINT(cppcoreguidelines-pro-type-member-init)
  const std::int64_t bytes = std::min(joint.bytes - at.done, piece_bytes_);
  const std::size_t count = joint.operands.size();
  for (std::size_t k = 0; k < count; ++k) {
    const JointReduction::Operand& operand = joint.operands[k];
    if (operand.message < 0) {
      pieces[k] = (*bases_)[static_cast<std::size_t>(operand.buffer)] + operand.at + at.done;
      continue;
    }
    const CompiledStep& step = plan_->steps[static_cast<std::size_t>(operand.message)];
    const Stream stream = stream_of(step, at.done);
    const Channel::Incoming incoming = channel_of(step)->incoming(stream);
    envelopes[k] = incoming.envelope();
    pieces[k] = joint_piece(step, envelopes[k], incoming, arrived.data() + k * room, static_cast<std::size_t>(bytes));
    if (pieces[k] == nullptr) {
      at.is_off = true;
      return false;
    }
  }
  std::byte* const into = (*bases_)[static_cast<std::size_t>(joint.into)] + joint.into_at + at.done;
  plan_->reduce_many(pieces.data(), count, into, nullptr, static_cast<std::size_t>(bytes >> plan_->element_shift));
  for (std::size_t k = 0; k < count; ++k)
    if (const int message = joint.operands[k].message; message >= 0) {
      const CompiledStep& step = plan_->steps[static_cast<std::size_t>(message)];
      if (envelopes[k].area == Envelope::lent) ++route_.counters->in_place;
      channel_of(step)->release(stream_of(step, at.done), envelopes[k]);
    }
  at.done += bytes;
  at.there = 0;
  at.looks = 0;
  ++route_.counters->joint;
  return true;
}

/// nullptr: leave it to who receives it alone.
const std::byte* ShmPort::joint_piece(const CompiledStep& step, const Envelope& came, const Channel::Incoming& incoming,
                                      std::byte* room, std::size_t bytes) const {
  const bool is_alone = came.area == Envelope::delivered || came.area == Envelope::exposed;
  if (!came.is_same(envelope_of(step)) || is_alone) return nullptr;
  if (came.area == Envelope::lent) return heap_->at(incoming.loan().source);
  if (came.area != 0) return channel_of(step)->piece(came);
  return incoming.read(room, bytes) ? room : nullptr;
}

/// Reduces a piece and sends the result on in the same pass. False, with nothing done: it has to be sent later.
bool ShmPort::forward(const Transfer& transfer, const std::byte* piece, std::int64_t bytes) {
  const int number = side_of(*transfer.step).forward;
  const CompiledStep& next = plan_->steps[static_cast<std::size_t>(number)];
  std::int64_t& forwarded = forwarded_[static_cast<std::size_t>(number)];
  if (forwarded != transfer.done || side_of(next).group >= 0 || !is_next(number, next)) return false;
  const std::byte* const result = transfer.data.into + transfer.done;
  if (lent_from(next, result, bytes) >= 0) return false;  // will be read in place
  Channel& channel = *channel_of(next);
  const Stream stream = stream_of(next, forwarded);
  if (!channel.may_send(stream)) return false;
  const int area = channel.take_area(stream.lane, static_cast<std::size_t>(bytes));
  if (area < 0) return false;
  const std::size_t phase = phase_of(result);
  combine(transfer, piece, channel.area(area) + phase, bytes);
  channel.send_area(stream, envelope_of(next), area, phase);
  forwarded += bytes;
  ++route_.counters->forwarded;
  return true;
}

}  // namespace tutti::shm
