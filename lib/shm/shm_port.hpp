#pragma once
// The shared-memory transport: the messages of one execution, over the channels of its communicator.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/engine/execution.hpp"
#include "lib/shm/links.hpp"
#include "lib/shm/piece_sharing.hpp"
#include "tutti/communicator.hpp"

namespace tutti::shm {

/// Where an execution's messages go: the same for all executions of a communicator.
struct Route {
  Links* links = nullptr;       ///< nullptr: none goes here.
  std::span<const int> locals;  ///< What `links` calls each rank of the communicator.
  MessageCounters* counters = nullptr;
  int patience = 0;  ///< Looks after which a send that shares goes its own way.
};

/// The messages in flight of one execution (the concept Port of lib/engine/execution.hpp). Both a send and a receive
/// take a piece at a time as the channel allows, in the order of the messages of their pair, which the schedule's proof
/// for one credit covers; nothing is stored in between.
class ShmPort {
 public:
  /// Opens the channels that the plan needs. Throws Error if there is no memory for them.
  ShmPort(const Route& route, const CompiledPlan& plan);

  /// `lane` is the operation's, but for one that takes no turns.
  void begin(std::uint64_t sequence, int lane);
  void bind(const Bases& bases) { bases_ = &bases; }
  [[nodiscard]] std::int64_t reduced(int joint) const { return joints_[static_cast<std::size_t>(joint)].done; }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data, std::byte* answer) {
    if (step.bytes <= inline_bytes_ && is_next(index, step)) {
      Channel& channel = *channel_of(step);
      const Stream stream = stream_of(step, 0);
      if (channel.may_send(stream)) {
        channel.send(stream, envelope_of(step), data, static_cast<std::size_t>(step.bytes));
        completed(index, step);
        return Posted::complete;
      }
    }
    return post({index, &step, channel_of(step), {const_cast<std::byte*>(data), nullptr, answer}}, sends_);
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    return post({index, &step, channel_of(step), {nullptr, nullptr, into}}, recvs_);
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    return post({index, &step, channel_of(step), operands}, recvs_);
  }

  template <class OnComplete>
  int poll(OnComplete on_complete) {
    if (sends_.empty() && recvs_.empty()) return 0;
    return poll(recvs_, on_complete) + poll(sends_, on_complete);
  }

  /// Throws Error if a message that is waited for has come in another lane: another kind of call than this rank's.
  void require_same_kind() const;

  /// After a failure: forgets what has not been sent and received.
  void abandon() noexcept {
    sends_.clear();
    recvs_.clear();
    if (sharing_) sharing_->abandon();
  }

 private:
  struct Transfer {
    int index = -1;  ///< Of the step.
    const CompiledStep* step = nullptr;
    Channel* channel = nullptr;
    /// A send reads `lhs`, and `into` is where its answer belongs; a receive writes `into`; a receive-and-reduce has
    /// all.
    Operands data{};
    std::int64_t done = 0;
    std::uint64_t loan = 0;      ///< Of a send: its last piece that the receiver reads in place, by number; 0: none.
    int looks = 0;               ///< Of a send that shares: for an area, in vain.
    Channel::Awaited awaited{};  ///< Of a receive whose turn it is: nothing can be done before this is there.
  };

  /// A joint reduction under way. It waits, but not for ever, until the next pieces of all its messages are there;
  /// what it has not taken by then is received and reduced one by one.
  struct Joint {
    std::int64_t done = 0;
    std::size_t there = 0;  ///< Operands that the next pieces of are known to be there.
    bool is_off = false;
    int looks = 0;  ///< At a message whose next piece is there, in vain.
    std::chrono::steady_clock::time_point since{};
    /// To be asked at each such look.
    [[nodiscard]] bool has_waited_long();
  };

  [[nodiscard]] Channel* channel_of(const CompiledStep& step) const {
    return channels_[static_cast<std::size_t>(step.peer)];
  }
  Posted post(const Transfer& transfer, std::vector<Transfer>& pending) {
    Transfer moving = transfer;
    if (move(moving)) return Posted::complete;
    pending.push_back(moving);
    return Posted::pending;
  }
  /// After a long message the others have to wait for the next look: what this one made ready goes first, as other
  /// ranks may have nothing else to do than to wait for it.
  template <class OnComplete>
  int poll(std::vector<Transfer>& pending, OnComplete on_complete) {
    std::size_t kept = 0;
    bool gives_way = false;
    const std::size_t all = pending.size();
    for (std::size_t i = 0; i < all; ++i) {
      Transfer& transfer = pending[i];
      const bool may_move = !gives_way && (transfer.awaited.flag == nullptr || transfer.awaited.is_there());
      if (may_move && move(transfer)) {
        on_complete(transfer.index);
        gives_way = transfer.step->bytes >= long_bytes;
      } else if (kept++ != i)
        pending[kept - 1] = transfer;
    }
    pending.resize(kept);
    return static_cast<int>(all - kept);
  }

  static constexpr std::int64_t long_bytes = 4096;  ///< To move as much takes longer than a look.

  /// Does what can be done now, of a message that is read in place a piece; true once all of the message has been sent
  /// or received.
  bool move(Transfer& transfer);
  [[nodiscard]] bool is_next(int index, const CompiledStep& step) const {
    if (!numbers_.empty()) return queue_of(step).done == numbers_[static_cast<std::size_t>(index)];
    return step.previous < 0 || completed_[static_cast<std::size_t>(step.previous)] == run_;
  }
  void completed(int index, const CompiledStep& step) {
    completed_[static_cast<std::size_t>(index)] = run_;
    if (!numbers_.empty()) ++queue_of(step).done;
    if (step.group >= 0 && step.bytes > inline_bytes_) sharing_->completed(step.group);
  }
  bool send_piece(Transfer& transfer, std::int64_t bytes);
  void lend(Transfer& transfer, std::int64_t source);
  bool send_area(Transfer& transfer, const std::byte* data, std::size_t bytes);
  void write_area(const Transfer& transfer, int area, std::size_t phase, const std::byte* data,
                  std::size_t bytes) const;
  enum class Received : std::uint8_t { nothing, piece, piece_in_place };
  Received receive_piece(Transfer& transfer, std::int64_t bytes);
  bool receive_inline(const Transfer& transfer, std::int64_t bytes);
  void take(const Transfer& transfer, const std::byte* piece, std::int64_t bytes) const;
  void borrow(const Transfer& transfer, const Loan& loan, std::int64_t bytes);
  bool forward(const Transfer& transfer, const std::byte* piece, std::int64_t bytes);
  bool reduce_jointly(int index, const CompiledStep& step);
  bool are_there(const JointReduction& joint, Joint& at) const;
  bool take_jointly(const JointReduction& joint, Joint& at);
  [[nodiscard]] const std::byte* joint_piece(const CompiledStep& step, const Envelope& came, Stream stream,
                                             std::byte* room, std::size_t bytes);
  void combine(const Transfer& transfer, const std::byte* piece, std::byte* also, std::int64_t bytes) const;
  /// Of the piece of a message before which `done` bytes have travelled.
  [[nodiscard]] Stream stream_of(const CompiledStep& step, std::int64_t done) const {
    if (step.path == Path::ring) return {lane_, Way::ring};
    return {lane_, Way::swap, done == 0 ? step.slot : step.slot + 1};  // two pieces at most
  }
  [[nodiscard]] Envelope envelope_of(const CompiledStep& step) const {
    return {static_cast<std::uint32_t>(step.bytes), sequence_, static_cast<std::uint32_t>(step.message)};
  }
  [[nodiscard]] Links::Queue& queue_of(const CompiledStep& step) const;

  Route route_;
  const CompiledPlan* plan_;
  std::int64_t piece_bytes_ = 0, inline_bytes_ = 0;
  std::vector<Channel*> channels_;  ///< By rank of the communicator; nullptr: no message of the plan.
  int lane_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint32_t run_ = 0;
  std::vector<std::uint32_t> completed_;  ///< Per step: the run in which it was last complete.
  std::vector<std::uint64_t> numbers_;  ///< Per step of a plan that takes no turns: its place in the queue; else empty.
  const NodeHeap* heap_ = nullptr;      ///< Memory that is read in place; nullptr: none.
  /// Per step of a plan with forwards: bytes of a send that were sent, or written to where they belong, before it
  /// began.
  std::vector<std::int64_t> forwarded_, delivered_;
  const Bases* bases_ = nullptr;
  std::vector<Joint> joints_;  ///< As CompiledPlan::joints.
  std::vector<Transfer> sends_, recvs_;
  std::optional<PieceSharing> sharing_;  ///< If any sends of the plan can share.
};

}  // namespace tutti::shm
