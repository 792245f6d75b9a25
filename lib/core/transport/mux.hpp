#pragma once
// The mux of transports: each message goes the way that its plan was compiled for.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/exec/port.hpp"
#include "lib/core/transport/mpi/mpi_port.hpp"
#include "lib/core/transport/network.hpp"
#include "lib/core/transport/shm/shm_port.hpp"
#include "lib/device/ipc/ipc_port.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/watch/faults.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

/// The sends to a rank that are part of no collective, and travel over MPI or a network. These keep the order in which
/// messages of one tag are posted, which has to be that in which operations started; but data of a device are not there
/// yet when theirs starts.
struct PairwiseSends {
  std::uint64_t numbered = 0, posted = 0;
};

/// The routes of all transports, from which a run makes its ports.
struct Routes {
  mpi::Route mpi{};
  mpi::NetworkRoute network{};
  shm::Route shm{};
  ipc::Route ipc{};
  MessageCounters* counters = nullptr;
  device::Counters* device = nullptr;
  std::span<PairwiseSends> pairwise{};  ///< By class, and by rank of the communicator.
  Faults* faults = nullptr;             ///< nullptr: none are made.
};

/// The far sends of one execution that is no collective.
class OrderedSends {
 public:
  OrderedSends(std::span<PairwiseSends> pairwise, const CompiledPlan& plan)
      : pairwise_(of_class(pairwise, plan.message_class)), plan_(&plan), numbers_(plan.steps.size()) {}

  /// An operation starts: its sends get their numbers.
  void begin() {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (const CompiledStep& step = plan_->steps[i]; step.verb == Verb::send && step.is_far())
        numbers_[i] = of(step).numbered++;
  }
  /// Whether it is the turn of a send; then it counts as posted.
  [[nodiscard]] bool may_post(int index, const CompiledStep& step) {
    const bool may = of(step).posted == numbers_[static_cast<std::size_t>(index)];
    of(step).posted += may ? 1 : 0;
    return may;
  }

 private:
  static std::span<PairwiseSends> of_class(std::span<PairwiseSends> all, int message_class) {
    const std::size_t ranks = all.size() / CompiledPlan::class_count;
    return all.subspan(static_cast<std::size_t>(message_class) * ranks, ranks);
  }
  [[nodiscard]] PairwiseSends& of(const CompiledStep& step) const {
    return pairwise_[static_cast<std::size_t>(step.peer)];
  }
  std::span<PairwiseSends> pairwise_;
  const CompiledPlan* plan_;
  std::vector<std::uint64_t> numbers_;  ///< Per step.
};

/// The messages of one execution, over all transports: a step says which it takes. Shared memory is called directly, so
/// that the fast path is inlined; the others by the virtual functions of TransportPort.
class Mux {
 public:
  Mux(const Routes& route, const shm::SharedPlan& plan)
      : shm_(route.shm, plan), counters_(route.counters), faults_(route.faults) {
    if (plan.uses(Transport::mpi)) own(Transport::mpi) = std::make_unique<mpi::MpiPort>(route.mpi, plan);
    if (plan.uses(Transport::network)) own(Transport::network) = route.network.network->port(route.network, plan);
    if (plan.uses(Transport::device)) own(Transport::device) = device::device_port(plan, *route.device);
    if (plan.uses(Transport::ipc)) own(Transport::ipc) = ipc::ipc_port(route.ipc, shm_, plan);
    if (!plan.takes_turns) ordered_.emplace(route.pairwise, plan);
  }

  /// `tag()` is that of message 0 over MPI.
  template <class Tag>
  void begin(std::uint64_t sequence, int lane, Tag tag) {
    const RunNumber run{sequence, lane, port(Transport::mpi) == nullptr ? 0 : tag()};
    if (ordered_) ordered_->begin();
    shm_.begin(run);
    for_others([&](TransportPort& port) { port.begin(run); });
  }
  void bind(const Bases& bases) {
    shm_.bind(bases);
    for_others([&](TransportPort& port) { port.bind(bases); });
  }
  [[nodiscard]] std::int64_t reduced(const CompiledStep& step) const {
    return port(Transport::ipc) == nullptr ? shm_.reduced(step) : port(Transport::ipc)->reduced(step);
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) {
    if (ordered_ && step.is_far() && !ordered_->may_post(index, step)) return Posted::busy;
    if (faults_ != nullptr && step.transport != Transport::device) return send_with_faults(index, step, data);
    count(step);
    return send(index, step, data);
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    count(step);
    note_fault(step);
    return step.transport == Transport::shm ? shm_.post_recv(index, step, into)
                                            : port_of(step).post_recv(index, step, into);
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    count(step);
    note_fault(step);
    return step.transport == Transport::shm ? shm_.post_recv_reduce(index, step, operands)
                                            : port_of(step).post_recv_reduce(index, step, operands);
  }
  // All messages of a fast-path plan go through shared memory.
  void begin_fast_path(std::uint64_t sequence, int lane) { shm_.begin_fast_path(sequence, lane); }
  template <class Again>
  bool transfer(const CompiledStep& step, const Operands& data, Again& again) {
    const bool is_over = shm_.transfer(step, data, again);
    if (is_over) count(step, counters_->shm);
    return is_over;
  }
  [[nodiscard]] int looks_before_turn() const { return shm_.looks_before_turn(); }
  void transferred(int index, const CompiledStep& step) { shm_.transferred(index, step); }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    // CUDA IPC goes on with the messages that shared memory has moved for it.
    int moved = port(Transport::ipc) == nullptr ? shm_.poll(on_complete) : 0;
    if (!dropped_.empty()) moved += lose_dropped(on_complete);
    for_others([&](TransportPort& port) { moved += port.poll(on_complete); });
    return moved;
  }
  void require_same_kind() const {
    shm_.require_same_kind();
    for_others([&](const TransportPort& port) { port.require_same_kind(); });
  }
  /// The step of a message that is not over, a receive rather than a send; -1: there is none.
  [[nodiscard]] int unfinished() const {
    int index = port(Transport::ipc) == nullptr ? shm_.unfinished() : -1;  // else that knows both
    for_others([&](const TransportPort& port) { index = index < 0 ? port.unfinished() : index; });
    return index;
  }
  /// The step of a receive over MPI or a network for which a message of another call has come, unless the right one
  /// has come since poll(); -1: there is none.
  [[nodiscard]] int with_message_of_another_call() {
    int index = -1;
    for_others([&](TransportPort& port) { index = index < 0 ? port.with_message_of_another_call() : index; });
    return index;
  }
  /// Whether some of a send has left before it was posted.
  [[nodiscard]] bool has_begun(int index) const { return shm_.has_begun(index); }
  /// A number that changes whenever bytes move in shared memory; the others tell of whole messages alone.
  [[nodiscard]] std::uint64_t progress() const { return shm_.progress(); }
  /// Whether messages are pending that MPI carries.
  [[nodiscard]] bool waits_for_mpi() const {
    const TransportPort* const its = port(Transport::mpi);
    return its != nullptr && static_cast<const mpi::MpiPort*>(its)->in_flight();
  }
  /// Gives up the messages after a failure; are_all_over() is known then.
  void abandon() noexcept {
    are_all_over_ = shm_.abandon();
    for_others([&](TransportPort& port) { are_all_over_ &= port.abandon(); });
    dropped_.clear();
  }
  /// After abandon(): false if messages may still write to their buffers.
  [[nodiscard]] bool are_all_over() const { return are_all_over_; }

 private:
  Posted send(int index, const CompiledStep& step, const std::byte* data) {
    return step.transport == Transport::shm ? shm_.post_send(index, step, data)
                                            : port_of(step).post_send(index, step, data);
  }
  /// Out of line, as there seldom are any.
  [[gnu::noinline]] Posted send_with_faults(int index, const CompiledStep& step, const std::byte* data) {
    const CompiledStep* const meant = faults_->before_message(step);
    count(step);
    if (meant != nullptr) return send(index, *meant, data);
    if (step.transport != Transport::shm) return Posted::complete;
    dropped_.push_back({index, &step});
    return Posted::pending;
  }
  /// A message is lost when it would be sent: once it is the next of its pair.
  template <class OnComplete>
  int lose_dropped(OnComplete on_complete) {
    return static_cast<int>(std::erase_if(dropped_, [&](const Dropped& message) {
      if (!shm_.order().is_next(message.index, *message.step)) return false;
      shm_.transferred(message.index, *message.step);
      on_complete(message.index);
      return true;
    }));
  }
  void note_fault(const CompiledStep& step) {
    if (faults_ != nullptr && step.transport != Transport::device) static_cast<void>(faults_->before_message(step));
  }
  void count(const CompiledStep& step) {
    switch (step.transport) {
      case Transport::shm:
      case Transport::ipc:
        return count(step, counters_->shm);
      case Transport::mpi:
        return count(step, counters_->mpi);
      case Transport::network:
        return count(step, counters_->network);
      case Transport::device:
        break;  // which counts by itself
    }
  }
  static void count(const CompiledStep& step, MessageCounters::Transport& counter) {
    const auto bytes = static_cast<std::uint64_t>(step.bytes);
    if (step.verb == Verb::send)
      ++counter.sent, counter.sent_bytes += bytes;
    else
      ++counter.received, counter.received_bytes += bytes;
  }

  [[nodiscard]] std::unique_ptr<TransportPort>& own(Transport transport) {
    return others_[static_cast<std::size_t>(transport)];
  }
  [[nodiscard]] TransportPort* port(Transport transport) const {
    return others_[static_cast<std::size_t>(transport)].get();
  }
  [[nodiscard]] TransportPort& port_of(const CompiledStep& step) const { return *port(step.transport); }
  template <class Visit>
  void for_others(const Visit& visit) const {
    for (const std::unique_ptr<TransportPort>& port : others_)
      if (port != nullptr) visit(*port);
  }

  shm::ShmPort shm_;
  std::array<std::unique_ptr<TransportPort>, transport_count> others_{};  ///< Null: no message of the plan goes there.
  struct Dropped {
    int index;
    const CompiledStep* step;
  };
  std::vector<Dropped> dropped_{};       ///< Messages of shared memory that are about to be lost.
  std::optional<OrderedSends> ordered_;  ///< Only for a plan that is no collective.
  MessageCounters* counters_;
  Faults* faults_;
  bool are_all_over_ = true;
};

}  // namespace tutti::detail
