#include "lib/core/transport/shm/joint_reductions.hpp"

#include <array>

namespace tutti::shm {
namespace {

constexpr int looks_at_the_clock = 16;  // a look at it costs as much as several at a message

}  // namespace

bool Joint::has_waited_long() {
  if (++looks % looks_at_the_clock != 0) return false;
  const auto now = std::chrono::steady_clock::now();
  if (looks == looks_at_the_clock) since = now;
  return now - since > tuning.joint_patience;
}

bool JointReductions::reduce(const CompiledStep& step, const MessageOrder& order) {
  const int number = context_->side_of(step).joint;
  const JointReduction& joint = context_->plan->joints[static_cast<std::size_t>(number)];
  Joint& at = this->at(number);
  while (are_there(joint, at, order) && take(joint, at))
    if (at.done == joint.bytes) return true;
  if (context_->ring_of(step).incoming().is_there()) at.is_off |= at.has_waited_long();
  return false;
}

/// Whether the next pieces of all messages are.
bool JointReductions::are_there(const JointReduction& joint, Joint& at, const MessageOrder& order) const {
  for (; at.there < joint.operands.size(); ++at.there) {
    const int message = joint.operands[at.there].message;
    if (message < 0) continue;
    if (!order.is_next(message, step(message)) || !context_->ring_of(step(message)).incoming().is_there()) return false;
  }
  return true;
}

/// Reduces the next pieces, which are all there. False: one of them has to be received alone, and so have all pieces
/// that follow.
bool JointReductions::take(const JointReduction& joint, Joint& at) const {
  constexpr std::size_t most = JointReduction::most_operands;
  constexpr auto room = static_cast<std::size_t>(tuning.cell_bytes);
  alignas(line_bytes) std::array<std::byte, most * room> arrived;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<const void*, most> pieces;                            // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<Envelope, most> envelopes;                            // NOLINT(cppcoreguidelines-pro-type-member-init)
  const std::int64_t bytes = std::min(joint.bytes - at.done, context_->piece_bytes);
  const std::size_t count = joint.operands.size();
  for (std::size_t k = 0; k < count; ++k) {
    const JointReduction::Operand& operand = joint.operands[k];
    if (operand.message < 0) {
      pieces[k] = context_->bases->at(operand.buffer, operand.at + at.done);
      continue;
    }
    envelopes[k] = context_->ring_of(step(operand.message)).incoming().envelope();
    pieces[k] =
        piece_of(step(operand.message), envelopes[k], arrived.data() + k * room, static_cast<std::size_t>(bytes));
    if (pieces[k] == nullptr) {
      at.is_off = true;
      return false;
    }
  }
  const SharedPlan& plan = *context_->plan;
  std::byte* const into = context_->bases->at(joint.into, joint.into_at + at.done);
  plan.reduce_many(pieces.data(), count, into, nullptr, static_cast<std::size_t>(bytes >> plan.element_shift));
  for (std::size_t k = 0; k < count; ++k)
    if (const int message = joint.operands[k].message; message >= 0) {
      if (envelopes[k].where == Where::lent) ++context_->route.counters->lent;
      context_->channel_of(step(message)).release(context_->lane, envelopes[k]);
    }
  at.done += bytes;
  at.there = 0;
  at.looks = 0;
  ++context_->route.counters->joint;
  return true;
}

/// The data of the next piece of a message; nullptr: the message has to be received alone.
const std::byte* JointReductions::piece_of(const CompiledStep& step, const Envelope& came, std::byte* room,
                                           std::size_t bytes) const {
  if (!came.is_same(context_->envelope_of(step))) return nullptr;
  if (came.where != Where::cell) return context_->mapped_piece(step, came, static_cast<std::int64_t>(bytes));
  // A part of a piece is none of the size of the others.
  const Incoming incoming = context_->ring_of(step).incoming();
  return came.number == bytes && context_->fits_cell(came) && incoming.read(room, bytes) ? room : nullptr;
}

}  // namespace tutti::shm
