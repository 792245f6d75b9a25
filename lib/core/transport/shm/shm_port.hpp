#pragma once
// The shared-memory transport: the messages of one execution, over the channels of its communicator.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "lib/core/transport/shm/joint_reductions.hpp"
#include "lib/core/transport/shm/message_order.hpp"
#include "lib/core/transport/shm/port_context.hpp"
#include "lib/core/transport/shm/receiver.hpp"
#include "lib/core/transport/shm/sender.hpp"
#include "lib/core/transport/shm/transfer.hpp"
#include "lib/core/transport/shm/turns.hpp"

namespace tutti::shm {

/// The messages in flight of one execution: as TransportPort (lib/core/exec/port.hpp), but inlined. Both a send and a
/// receive take a piece at a time as the channel allows, in the order of the messages of their pair, which the
/// schedule's proof for one credit covers; nothing is stored in between. Copies of a port are the same port: that of
/// CUDA IPC has one for what goes by way of the host.
class ShmPort {
 public:
  /// Opens the channels that the plan needs. Throws Error if there is no memory for them.
  ShmPort(const Route& route, const SharedPlan& plan);

  /// The lane is the operation's, but for one that takes no turns.
  void begin(const RunNumber& run);
  void bind(const Bases& bases) { parts_->context.bases = &bases; }
  [[nodiscard]] std::int64_t reduced(const CompiledStep& step) const {
    const int joint = parts_->context.side_of(step).joint;
    return joint < 0 ? 0 : parts_->joints.at(joint).done;
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) {
    if (parts_->context.fits_cell(step) && parts_->order.is_next(index, step) &&
        parts_->sender.send_in_cell(step, data)) {
      transferred(index, step);
      return Posted::complete;
    }
    return post({index, &step, {const_cast<std::byte*>(data), nullptr, nullptr}}, parts_->sends);
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    return post({index, &step, {nullptr, nullptr, into}}, parts_->recvs);
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    return post({index, &step, operands}, parts_->recvs);
  }

  // The fast path, one message after the other. Which of them are over is not noted until transferred().
  void begin_fast_path(std::uint64_t sequence, int lane) {
    if (parts_->context.plan->takes_turns) parts_->context.set_turn(sequence, lane);
  }
  template <class Again>
  bool transfer(const CompiledStep& step, const Operands& data, Again& again) {
    parts_->turns.waits_for(step);
    return step.verb == Verb::send ? parts_->sender.send_now(step, data.lhs, again)
                                   : parts_->receiver.receive_now(step, data, again);
  }
  /// A message is over.
  void transferred(int index, const CompiledStep& step);
  /// While transfer() waits: how often to look before this rank gives its processor away.
  [[nodiscard]] int looks_before_turn() const { return parts_->turns.looks_before_turn(); }

  template <class OnComplete>
  int poll(OnComplete on_complete) {
    if (parts_->sends.empty() && parts_->recvs.empty()) return 0;
    const int received = look(parts_->recvs, tuning.bytes_a_look_takes, on_complete);
    return received + look(parts_->sends, std::numeric_limits<std::int64_t>::max(), on_complete);
  }

  /// Throws Error if a message that is waited for has come in another lane: another kind of call.
  void require_same_kind() const;

  /// The step of a message that is not over, a receive rather than a send; -1: there is none.
  [[nodiscard]] int unfinished() const {
    if (!parts_->recvs.empty()) return parts_->recvs.front().index;
    return parts_->sends.empty() ? -1 : parts_->sends.front().index;
  }

  /// Whether some of a send was forwarded before it was posted.
  [[nodiscard]] bool has_begun(int index) const {
    const std::vector<std::int64_t>& forwarded = parts_->context.forwarded;
    return !forwarded.empty() && forwarded[static_cast<std::size_t>(index)] > 0;
  }
  /// A number that changes whenever bytes of messages move that are under way.
  [[nodiscard]] std::uint64_t progress() const;

  // What another port needs that moves messages on the same channels.
  [[nodiscard]] PortContext& context() { return parts_->context; }
  [[nodiscard]] const MessageOrder& order() const { return parts_->order; }
  [[nodiscard]] const Receiver& receiver() const { return parts_->receiver; }

  /// After a failure: forgets the messages that have not been sent or received. True: none writes any more.
  bool abandon() noexcept;

 private:
  /// Behind a pointer, as they refer to each other.
  struct Parts {
    Parts(const Route& route, const SharedPlan& plan)
        : context(route, plan), order(context), sender(context), receiver(context), joints(context), turns(context) {}
    PortContext context;
    MessageOrder order;
    Sender sender;
    Receiver receiver;
    JointReductions joints;
    Turns turns;
    std::vector<Transfer> sends{}, recvs{};  ///< There is room for all: references stay valid.
  };

  Posted post(Transfer transfer, std::vector<Transfer>& pending) {
    if (parts_->order.park(transfer)) return Posted::pending;
    // A receive of many bytes is left to poll(), where the other messages get their turn, too.
    const bool at_once = &pending == &parts_->sends || transfer.step->bytes < tuning.bytes_a_look_takes;
    if (at_once && move(transfer)) return Posted::complete;
    pending.push_back(transfer);
    return Posted::pending;
  }
  /// Moves all messages that can be moved, and returns how many did. Once a message has moved `enough` bytes, the
  /// others are left for the next poll: the steps that these bytes made ready go first, as other ranks may have nothing
  /// to do but to wait for them.
  template <class OnComplete>
  int look(std::vector<Transfer>& pending, std::int64_t enough, OnComplete on_complete) {
    std::size_t kept = 0;
    int moved = 0;
    bool gives_way = false;
    for (std::size_t i = 0; i < pending.size(); ++i) {  // a message that is over may append the one after it
      Transfer& transfer = pending[i];
      const bool may_move = !gives_way && (!transfer.awaited.is_known() || transfer.awaited.is_there());
      const std::int64_t before = transfer.done;
      const bool is_over = may_move && move(transfer);
      moved += is_over || transfer.done != before ? 1 : 0;
      gives_way |= transfer.done - before >= enough;
      if (is_over)
        on_complete(transfer.index);
      else if (kept++ != i)
        pending[kept - 1] = transfer;
    }
    pending.resize(kept);
    return moved;
  }
  bool move(Transfer& transfer);
  bool move_pieces(Transfer& transfer);
  bool reduce_jointly(Transfer& transfer, int number);

  std::shared_ptr<Parts> parts_;
};

}  // namespace tutti::shm
