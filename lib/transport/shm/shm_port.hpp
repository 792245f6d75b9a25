#pragma once
// The shared-memory transport: the messages of one execution, over the channels of its communicator.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "lib/exec/port.hpp"
#include "lib/transport/shm/eager/piece_sharing.hpp"
#include "lib/transport/shm/joint.hpp"
#include "lib/transport/shm/plan/shared_plan.hpp"
#include "lib/transport/shm/route.hpp"
#include "lib/transport/shm/segment/links.hpp"
#include "lib/transport/shm/transfer.hpp"

namespace tutti::shm {

/// The messages in flight of one execution (the concept Port of lib/exec/port.hpp). Both a send and a receive
/// take a piece at a time as the channel allows, in the order of the messages of their pair, which the schedule's proof
/// for one credit covers; nothing is stored in between.
class ShmPort {
 public:
  /// Opens the channels that the plan needs. Throws Error if there is no memory for them.
  ShmPort(const Route& route, const SharedPlan& plan);
  ShmPort(ShmPort&&) = default;
  ShmPort(const ShmPort&) = delete;  // a copy would have no room for all transfers
  ShmPort& operator=(ShmPort&&) = delete;
  ShmPort& operator=(const ShmPort&) = delete;
  ~ShmPort() = default;

  /// `lane` is the operation's, but for one that takes no turns.
  void begin(std::uint64_t sequence, int lane);
  void bind(const Bases& bases) { bases_ = &bases; }
  [[nodiscard]] std::int64_t reduced(const CompiledStep& step) const {
    const int joint = side_of(step).joint;
    return joint < 0 ? 0 : joints_[static_cast<std::size_t>(joint)].done;
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) {
    if (step.bytes <= inline_bytes_ && is_next(index, step)) {
      Channel& channel = *channel_of(step);
      const Stream stream = stream_of(step, 0);
      if (channel.may_send(stream)) {
        channel.send(stream, envelope_of(step), data, static_cast<std::size_t>(step.bytes));
        completed(index, step);
        return Posted::complete;
      }
    }
    return post({index, &step, channel_of(step), {const_cast<std::byte*>(data), nullptr, nullptr}}, sends_);
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    return post({index, &step, channel_of(step), {nullptr, nullptr, into}}, recvs_);
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    return post({index, &step, channel_of(step), operands}, recvs_);
  }

  // Of a brief plan, one message after the other. Which of them are over is not noted until transferred().
  void begin_briefly(std::uint64_t sequence, int lane) {
    if (plan_->takes_turns) set_turn(sequence, lane);
  }
  template <class Again>
  bool transfer(const CompiledStep& step, const Operands& data, Again& again) {
    const bool is_over = step.verb == Verb::send ? send_now(step, data.lhs, again) : receive_now(step, data, again);
    if (is_over) ++(step.verb == Verb::send ? route_.counters->shm.sent : route_.counters->shm.received);
    return is_over;
  }
  void transferred(int index, const CompiledStep& step) { completed(index, step); }
  /// While transfer() waits: how often to look before this rank gives its processor away.
  [[nodiscard]] int looks_before_turn() const;

  template <class OnComplete>
  int poll(OnComplete on_complete) {
    if (sends_.empty() && recvs_.empty()) return 0;
    const int received = look(recvs_, long_bytes, on_complete);
    return received + look(sends_, std::numeric_limits<std::int64_t>::max(), on_complete);
  }

  /// Throws Error if a message that is waited for has come in another lane: another kind of call.
  void require_same_kind() const;

  /// After a failure: forgets what has not been sent and received.
  void abandon() noexcept;

 private:
  void set_turn(std::uint64_t sequence, int lane) {
    sequence_ = static_cast<std::uint32_t>(sequence);
    lane_ = lane;
  }
  /// In a run that receives one message from each rank of the node: whether those of the ranks on this rank's processor
  /// are there, so that these are likely to wait as well, and to give them the processor is of no use.
  [[nodiscard]] bool waits_for_other_processors() const;
  [[nodiscard]] const SideStep& side_of(const CompiledStep& step) const { return plan_->side(step); }
  [[nodiscard]] int local_of(const CompiledStep& step) const {
    return route_.locals[static_cast<std::size_t>(step.peer)];
  }
  [[nodiscard]] bool is_here(const CompiledStep& step) const { return route_.processors->is_here(local_of(step)); }
  [[nodiscard]] Channel* channel_of(const CompiledStep& step) const {
    return channels_[static_cast<std::size_t>(step.peer)];
  }
  template <class Again>
  bool send_now(const CompiledStep& step, const std::byte* data, Again& again) {
    Channel& channel = *channel_of(step);
    const Stream stream = stream_of(step, 0);
    awaiting_ = &step;
    while (!channel.may_send(stream))
      if (!again()) return false;
    if (step.bytes <= inline_bytes_) {
      channel.send(stream, envelope_of(step), data, static_cast<std::size_t>(step.bytes));
      return true;
    }
    if (lent_from(step, data, step.bytes) >= 0) return false;  // the usual way lends it
    if (may_expose(step)) return false;
    const auto bytes = static_cast<std::size_t>(step.bytes);
    int area = channel.take_area(stream.lane, bytes);
    for (; area < 0; area = channel.take_area(stream.lane, bytes))
      if (!again()) return false;
    const std::size_t phase = phase_of(data);
    write_area(step, area, phase, data, bytes);
    channel.send_area(stream, envelope_of(step), area, phase);
    if (sends_once_) channel.own_for_next(lane_, phase, bytes);
    return true;
  }
  /// What cannot be received, as it is not what was expected, is left there: the usual way says what is wrong with it.
  template <class Again>
  bool receive_now(const CompiledStep& step, const Operands& data, Again& again) {
    Channel& channel = *channel_of(step);
    const Stream stream = stream_of(step, 0);
    const Channel::Incoming incoming = channel.incoming(stream);
    const bool in_slot = step.bytes <= inline_bytes_;
    awaiting_ = &step;
    if (in_slot) incoming.expect(static_cast<std::size_t>(step.bytes));
    while (!incoming.is_there())
      if (!again()) return false;
    const Envelope came = incoming.envelope();
    if (!came.is_same(envelope_of(step)) || (came.area == 0) != in_slot || came.is_elsewhere()) return false;
    if (in_slot) {
      while (!receive_inline(step, data, incoming, step.bytes))
        if (!again()) return false;
    } else {
      take(step, data, channel.piece(came), step.bytes);
    }
    channel.release(stream, came);
    return true;
  }
  static constexpr std::int64_t long_bytes = 4096;  ///< What takes longer than a look at other messages.

  Posted post(Transfer transfer, std::vector<Transfer>& pending) {
    if (!parked_.empty() && !is_next(transfer.index, *transfer.step)) {
      parked_[static_cast<std::size_t>(transfer.index)] = transfer;
      return Posted::pending;
    }
    const bool at_once = &pending == &sends_ || transfer.step->bytes < long_bytes;  // else in a look, as others
    if (at_once && move(transfer)) return Posted::complete;
    pending.push_back(transfer);
    return Posted::pending;
  }
  void wake(Transfer& transfer) {
    (transfer.step->verb == Verb::send ? sends_ : recvs_).push_back(transfer);
    transfer.index = -1;
  }
  /// Moves what can be moved; says of how many messages. But once so many bytes of one have been, the others are left
  /// for the next look: what these made ready goes first, as other ranks may have nothing to do but to wait for it.
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

  /// Does what can be done now, of a message that is read in place a piece; true once all of the message has been sent
  /// or received.
  bool move(Transfer& transfer) {
    const CompiledStep& step = *transfer.step;
    const bool is_in_slot = step.verb != Verb::send && step.bytes <= inline_bytes_;
    return is_in_slot ? receive_from_slot(transfer) : move_pieces(transfer);
  }
  bool receive_from_slot(Transfer& transfer);
  bool move_pieces(Transfer& transfer);
  [[nodiscard]] bool is_next(int index, const CompiledStep& step) const {
    if (!numbers_.empty()) return queue_of(step).done == numbers_[static_cast<std::size_t>(index)];
    return step.previous < 0 || completed_[static_cast<std::size_t>(step.previous)] == run_;
  }
  void completed(int index, const CompiledStep& step) {
    completed_[static_cast<std::size_t>(index)] = run_;
    if (!numbers_.empty()) ++queue_of(step).done;
    if (const int group = side_of(step).group; group >= 0) sharing_->completed(group);
    if (step.next >= 0 && !parked_.empty() && parked_[static_cast<std::size_t>(step.next)].index >= 0)
      wake(parked_[static_cast<std::size_t>(step.next)]);
  }
  bool send_piece(Transfer& transfer, std::int64_t bytes);
  /// To copy as little costs less than to wait until the receiver has read it.
  static constexpr std::int64_t not_lent_bytes = 4096;
  /// Where in the heap the receiver is to read a piece; -1: it is copied.
  [[nodiscard]] std::int64_t lent_from(const CompiledStep& step, const std::byte* data, std::int64_t bytes) const {
    return heap_ != nullptr && !side_of(step).makes_room && bytes > not_lent_bytes ? heap_->offset_of(data, bytes) : -1;
  }
  void lend(Transfer& transfer, std::int64_t source);
  /// What is shorter takes less to stage than to wait for its reader.
  static constexpr std::int64_t least_exposed = 8 * 1024L;
  [[nodiscard]] bool may_expose(const CompiledStep& step) const;
  bool expose(Transfer& transfer);
  bool is_read(Transfer& transfer);
  bool send_area(Transfer& transfer, const std::byte* data, std::size_t bytes);
  void write_area(const CompiledStep& step, int area, std::size_t phase, const std::byte* data,
                  std::size_t bytes) const;
  enum class Received : std::uint8_t { nothing, piece, piece_in_place };
  Received receive_piece(Transfer& transfer, std::int64_t bytes);
  /// If the rest of what it exposed is refused, the sender goes on with a whole one.
  [[nodiscard]] std::int64_t whole_pieces(std::int64_t bytes) const { return bytes / piece_bytes_ * piece_bytes_; }
  SingleCopy::Outcome read_exposed(const Transfer& transfer, std::uint64_t source, std::int64_t left) const;
  Received receive_exposed(Transfer& transfer, const Channel::Incoming& incoming, const Envelope& came);
  bool receive_inline(const CompiledStep& step, const Operands& data, const Channel::Incoming& incoming,
                      std::int64_t bytes) const;
  /// Puts a piece where it belongs, straight from the memory in which it arrived.
  void take(const CompiledStep& step, const Operands& data, const std::byte* piece, std::int64_t bytes) const {
    if (step.verb == Verb::recv)
      std::memcpy(data.into, piece, static_cast<std::size_t>(bytes));
    else
      plan_->combine(step.lands_left ? piece : data.lhs, step.lands_left ? data.rhs : piece, data.into, bytes);
  }
  void borrow(const Transfer& transfer, const Loan& loan, std::int64_t bytes);
  bool forward(const Transfer& transfer, const std::byte* piece, std::int64_t bytes);
  bool reduce_jointly(int index, const CompiledStep& step);
  bool are_there(const JointReduction& joint, Joint& at) const;
  bool take_jointly(const JointReduction& joint, Joint& at);
  [[nodiscard]] const std::byte* joint_piece(const CompiledStep& step, const Envelope& came,
                                             const Channel::Incoming& incoming, std::byte* room,
                                             std::size_t bytes) const;
  /// A piece of a receive-and-reduce; `also` gets the result too.
  void combine(const Transfer& transfer, const std::byte* piece, std::byte* also, std::int64_t bytes) const {
    const bool lands_left = transfer.step->lands_left;
    const Operands data = transfer.rest();
    plan_->combine(lands_left ? piece : data.lhs, lands_left ? data.rhs : piece, data.into, also, bytes);
  }
  /// Of the piece before which `done` bytes have travelled.
  [[nodiscard]] Stream stream_of(const CompiledStep& step, std::int64_t done) const {
    const SideStep& side = side_of(step);
    if (side.way == Way::ring) return {lane_, Way::ring};
    return {lane_, Way::swap, done == 0 ? side.slot : side.slot + 1};  // two pieces at most
  }
  [[nodiscard]] Envelope envelope_of(const CompiledStep& step) const {
    return {static_cast<std::uint32_t>(step.bytes), sequence_, static_cast<std::uint32_t>(step.message)};
  }
  [[nodiscard]] Links::Queue& queue_of(const CompiledStep& step) const;

  Route route_;
  const SharedPlan* plan_;
  std::int64_t piece_bytes_ = 0, inline_bytes_ = 0;
  std::vector<Channel*> channels_;          ///< By rank of the communicator; nullptr: no message of the plan.
  const CompiledStep* awaiting_ = nullptr;  ///< The step of transfer().
  /// The plan has one receive from each other rank of the node, and it is known where they run.
  bool hears_once_from_all_ = false;
  bool sends_once_ = false;  ///< That is all of the plan's messages within the node.
  int looks_elsewhere_ = 0;  ///< As Route's, if the plan has one receive; more if nothing else is to be done.
  int lane_ = 0;             ///< With the next: of this run, or of all messages that take no turns.
  std::uint32_t sequence_ = 0;
  std::uint32_t run_ = 0;
  std::vector<std::uint32_t> completed_;  ///< Per step: the run in which it was last complete.
  std::vector<std::uint64_t> numbers_;  ///< Per step of a plan that takes no turns: its place in the queue; else empty.
  const NodeHeap* heap_ = nullptr;      ///< Memory that is read in place; nullptr: none.
  /// Per step of a plan with forwards: bytes of a send that were sent, or written where they belong, before it began.
  std::vector<std::int64_t> forwarded_, delivered_;
  const Bases* bases_ = nullptr;
  std::vector<Joint> joints_;            ///< As SharedPlan::joints.
  std::vector<Transfer> sends_, recvs_;  ///< There is room for all: references stay valid.
  /// Per step of a plan that takes turns and has messages which follow others: those posted, but not next of their pair
  /// and direction. In no list: looks take no longer the more there are.
  std::vector<Transfer> parked_;
  std::optional<PieceSharing> sharing_;  ///< If any sends of the plan can share.
};

}  // namespace tutti::shm
