#include "lib/core/transport/shm/shm_port.hpp"

#include <algorithm>

namespace tutti::shm {

ShmPort::ShmPort(const Route& route, const SharedPlan& plan) : parts_(std::make_shared<Parts>(route, plan)) {
  if (route.links == nullptr) return;
  const auto is_local = [](const CompiledStep& step) { return step.is_message() && step.is_local(); };
  const auto messages = std::ranges::count_if(plan.steps, is_local);
  const auto recvs = std::ranges::count_if(plan.steps, [&](auto& step) { return is_local(step) && step.receives(); });
  parts_->sends.reserve(static_cast<std::size_t>(messages - recvs));
  parts_->recvs.reserve(static_cast<std::size_t>(recvs));
}

void ShmPort::begin(const RunNumber& run) {
  PortContext& context = parts_->context;
  if (context.route.links == nullptr) return;
  parts_->order.begin();
  parts_->sender.begin();
  parts_->joints.begin();
  std::ranges::fill(context.forwarded, 0);
  std::ranges::fill(context.delivered, 0);
  if (context.plan->takes_turns) context.set_turn(run.sequence, run.lane);
}

void ShmPort::require_same_kind() const {
  if (!parts_->context.plan->takes_turns) return;
  for (const Transfer& transfer : parts_->recvs)
    parts_->receiver.require_same_kind(*transfer.step);
}

/// Moves as much of a message as can be moved now; of a message that is read in place, one piece. True once all of the
/// message has been sent or received.
bool ShmPort::move(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (step.verb == Verb::send || !parts_->context.fits_cell(step)) return move_pieces(transfer);
  if (!parts_->order.is_next(transfer.index, step) ||
      parts_->receiver.receive_piece(transfer, parts_->sender, parts_->order) == Received::nothing)
    return false;
  transferred(transfer.index, step);
  return true;
}

bool ShmPort::move_pieces(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (transfer.loan != 0 && transfer.done == step.bytes) return parts_->sender.is_read(transfer);
  if (const int joint = parts_->context.side_of(step).joint; joint >= 0 && transfer.done == 0) {
    if (reduce_jointly(transfer, joint)) return true;
    if (!parts_->joints.at(joint).is_off) return false;
  }
  if (!parts_->order.is_next(transfer.index, step)) return false;
  const std::vector<std::int64_t>& forwarded = parts_->context.forwarded;
  if (step.verb == Verb::send && !forwarded.empty() && transfer.done == 0)
    transfer.done = forwarded[static_cast<std::size_t>(transfer.index)];
  if (transfer.done > 0 && transfer.done == step.bytes) {
    transferred(transfer.index, step);
    return true;
  }
  do {
    if (step.verb == Verb::send) {
      if (!parts_->sender.send_piece(transfer)) return false;
    } else {
      const Received received = parts_->receiver.receive_piece(transfer, parts_->sender, parts_->order);
      if (received == Received::nothing) return false;
      // The sender may be reading loans of this rank in turn: the next loans, which are quickly made, must not wait for
      // all pieces.
      if (received == Received::piece_in_place && transfer.done < step.bytes) {
        transfer.awaited = {};
        return false;
      }
    }
  } while (transfer.done < step.bytes);
  transferred(transfer.index, step);
  return transfer.loan == 0 || parts_->sender.is_read(transfer);
}

/// Does a receive of which nothing was received alone. True once all of it is done.
bool ShmPort::reduce_jointly(Transfer& transfer, int number) {
  const CompiledStep& step = *transfer.step;
  const Joint& joint = parts_->joints.at(number);
  if (joint.done == step.bytes) return true;
  if (!joint.is_off && parts_->order.is_next(transfer.index, step) && parts_->joints.reduce(step, parts_->order)) {
    const SharedPlan& plan = *parts_->context.plan;
    for (const JointReduction::Operand& operand : plan.joints[static_cast<std::size_t>(number)].operands)
      if (operand.message >= 0) transferred(operand.message, plan.steps[static_cast<std::size_t>(operand.message)]);
    transfer.done = step.bytes;
    return true;
  }
  if (joint.is_off) transfer.done = joint.done;
  return false;
}

void ShmPort::transferred(int index, const CompiledStep& step) {
  Transfer* const next = parts_->order.complete(index, step);
  if (step.verb == Verb::send) parts_->sender.complete(step);
  if (next == nullptr) return;
  (next->step->verb == Verb::send ? parts_->sends : parts_->recvs).push_back(*next);
  next->index = -1;
}

std::uint64_t ShmPort::progress() const {
  std::int64_t bytes = 0;
  for (const auto* transfers : {&parts_->sends, &parts_->recvs})
    for (const Transfer& transfer : *transfers)
      bytes += transfer.done;
  for (int joint = 0; joint < static_cast<int>(parts_->context.plan->joints.size()); ++joint)
    bytes += parts_->joints.at(joint).done;
  return static_cast<std::uint64_t>(bytes);
}

bool ShmPort::abandon() noexcept {
  parts_->sends.clear();
  parts_->recvs.clear();
  parts_->order.abandon();
  parts_->sender.abandon();
  return true;
}

}  // namespace tutti::shm
