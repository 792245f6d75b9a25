#pragma once
// The mux of transports: each message goes the way that its plan was compiled for.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/exec/port.hpp"
#include "lib/transport/device/device_port.hpp"
#include "lib/transport/faults.hpp"
#include "lib/transport/ipc/ipc_port.hpp"
#include "lib/transport/mpi/mpi_port.hpp"
#include "lib/transport/network.hpp"
#include "lib/transport/shm/shm_port.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

/// The sends to a rank that are part of no collective, and travel over MPI or a network. These keep the order in which
/// messages of one tag are posted, which has to be that in which operations started; but data of a device are not there
/// yet when theirs starts.
struct PairwiseSends {
  std::uint64_t numbered = 0, posted = 0;
};

struct Route {
  mpi::Route mpi{};
  mpi::NetworkRoute network{};
  shm::Route shm{};
  ipc::Route ipc{};
  MessageCounters* counters = nullptr;
  device::Counters* device = nullptr;
  std::span<PairwiseSends> pairwise{};  ///< By line, and by rank of the communicator.
  Faults* faults = nullptr;             ///< nullptr: none are made.
};

/// The far sends of one execution that is no collective.
class OrderedSends {
 public:
  OrderedSends(std::span<PairwiseSends> pairwise, const CompiledPlan& plan)
      : pairwise_(of_line(pairwise, plan.line)), plan_(&plan), numbers_(plan.steps.size()) {}

  /// An operation starts: its sends get their numbers.
  void begin() {
    for (std::size_t i = 0; i < numbers_.size(); ++i)
      if (const CompiledStep& step = plan_->steps[i];
          step.verb == Verb::send && (step.transport == Transport::mpi || step.transport == Transport::network))
        numbers_[i] = of(step).numbered++;
  }
  /// Whether it is the turn of a send; then it counts as posted.
  [[nodiscard]] bool may_post(int index, const CompiledStep& step) {
    const bool may = of(step).posted == numbers_[static_cast<std::size_t>(index)];
    of(step).posted += may ? 1 : 0;
    return may;
  }

 private:
  static std::span<PairwiseSends> of_line(std::span<PairwiseSends> all, int line) {
    const std::size_t ranks = all.size() / CompiledPlan::line_count;
    return all.subspan(static_cast<std::size_t>(line) * ranks, ranks);
  }
  [[nodiscard]] PairwiseSends& of(const CompiledStep& step) const {
    return pairwise_[static_cast<std::size_t>(step.peer)];
  }
  std::span<PairwiseSends> pairwise_;
  const CompiledPlan* plan_;
  std::vector<std::uint64_t> numbers_;  ///< Per step.
};

/// The messages of one execution, over all transports. Shared memory and MPI are called directly, a network and a
/// device by virtual functions.
class Mux {
 public:
  Mux(const Route& route, const shm::SharedPlan& plan)
      : mpi_(route.mpi, plan),
        shm_(plan.uses(Transport::ipc) ? shm::Route{} : route.shm, plan),
        counters_(route.counters),
        on_device_(route.device),
        faults_(route.faults),
        uses_mpi_(plan.uses(Transport::mpi)) {
    if (plan.uses(Transport::network)) network_ = route.network.network->port(route.network, plan);
    if (plan.uses(Transport::device)) device_ = device::device_port(plan);
    if (plan.uses(Transport::ipc)) ipc_ = ipc::ipc_port(route.ipc, route.shm, plan);
    if (!plan.takes_turns) ordered_.emplace(route.pairwise, plan);
  }

  /// `tag()` is that of message 0 over MPI.
  template <class Tag>
  void begin(std::uint64_t sequence, int lane, Tag tag) {
    if (uses_mpi_) mpi_.begin(tag());
    if (network_ != nullptr) network_->begin(sequence);
    if (ordered_) ordered_->begin();
    if (ipc_ != nullptr) ipc_->begin(sequence, lane);
    shm_.begin(sequence, lane);
  }
  void bind(const Bases& bases) {
    shm_.bind(bases);
    if (ipc_ != nullptr) ipc_->bind(bases);
    bases_ = &bases;
  }
  [[nodiscard]] std::int64_t reduced(const CompiledStep& step) const {
    return ipc_ == nullptr ? shm_.reduced(step) : ipc_->reduced(step);
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) {
    if (step.transport == Transport::device) return store(index, step, data);
    if (ordered_ && !step.is_local() && !ordered_->may_post(index, step)) return Posted::busy;
    if (faults_ != nullptr) return send_with_faults(index, step, data);
    count(counter(step), step);
    return send(index, step, data);
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    if (step.transport == Transport::device) return fetch(index, step, into);
    count(counter(step), step);
    if (faults_ != nullptr) static_cast<void>(faults_->before_message(step));
    switch (step.transport) {
      case Transport::shm:
        return shm_.post_recv(index, step, into);
      case Transport::ipc:
        return ipc_->post_recv(index, step, into);
      case Transport::mpi:
        return mpi_.post_recv(index, step, into);
      case Transport::network:
      case Transport::device:
        break;
    }
    return network_->post_recv(index, step, into);
  }
  /// Only shared memory reduces messages as it receives them.
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    count(counter(step), step);
    if (faults_ != nullptr) static_cast<void>(faults_->before_message(step));
    return ipc_ == nullptr ? shm_.post_recv_reduce(index, step, operands)
                           : ipc_->post_recv_reduce(index, step, operands);
  }
  // All messages of a fast-path plan go through shared memory.
  void begin_fast_path(std::uint64_t sequence, int lane) { shm_.begin_fast_path(sequence, lane); }
  template <class Again>
  bool transfer(const CompiledStep& step, const Operands& data, Again& again) {
    const bool is_over = shm_.transfer(step, data, again);
    if (is_over) count(counters_->shm, step);
    return is_over;
  }
  [[nodiscard]] int looks_before_turn() const { return shm_.looks_before_turn(); }
  void transferred(int index, const CompiledStep& step) { shm_.transferred(index, step); }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    int completed = shm_.poll(on_complete);
    if (uses_mpi_) completed += mpi_.poll(on_complete);
    if (!dropped_.empty()) completed += lose_dropped(on_complete);
    if (device_ != nullptr) completed += tell(device_->poll(), on_complete);
    if (ipc_ != nullptr) completed += tell(ipc_->poll(), on_complete);
    return network_ == nullptr ? completed : completed + tell(network_->poll(), on_complete);
  }
  void require_same_kind() const {
    shm_.require_same_kind();
    if (ipc_ != nullptr) ipc_->require_same_kind();
  }
  /// The step of a message that is not over, a receive rather than a send; -1: there is none.
  [[nodiscard]] int unfinished() const {
    for (const int index : {shm_.unfinished(), mpi_.unfinished(), network_ == nullptr ? -1 : network_->unfinished()})
      if (index >= 0) return index;
    return ipc_ == nullptr ? -1 : ipc_->unfinished();
  }
  /// The step of a receive over MPI or a network for which a message of another call has come, unless the right one
  /// has come since poll(); -1: there is none.
  [[nodiscard]] int with_message_of_another_call(const CompiledPlan& plan) {
    const int over_mpi = uses_mpi_ ? mpi_.with_message_of_another_call() : -1;
    return over_mpi >= 0 || network_ == nullptr ? over_mpi : network_->with_message_of_another_call(plan);
  }
  /// Whether some of a send has left before it was posted.
  [[nodiscard]] bool has_begun(int index) const { return shm_.has_begun(index); }
  /// A number that changes whenever bytes move in shared memory; the others tell of whole messages alone.
  [[nodiscard]] std::uint64_t progress() const { return shm_.progress(); }
  /// Whether messages are pending that MPI carries.
  [[nodiscard]] bool waits_for_mpi() const { return mpi_.in_flight(); }
  /// Then are_all_over() is known.
  void abandon() noexcept {
    are_all_over_ = mpi_.abandon();
    shm_.abandon();
    dropped_.clear();
    if (network_ != nullptr) are_all_over_ &= network_->abandon();
    if (device_ != nullptr) device_->abandon();
    if (ipc_ != nullptr) ipc_->abandon();
  }
  /// After abandon(): false if messages may still write to their buffers.
  [[nodiscard]] bool are_all_over() const { return are_all_over_; }

 private:
  Posted send(int index, const CompiledStep& step, const std::byte* data) {
    switch (step.transport) {
      case Transport::shm:
        return shm_.post_send(index, step, data);
      case Transport::ipc:
        return ipc_->post_send(index, step, data);
      case Transport::mpi:
        return mpi_.post_send(index, step, data);
      case Transport::network:
      case Transport::device:
        break;
    }
    return network_->post_send(index, step, data);
  }
  /// Out of line, as there seldom are any.
  [[gnu::noinline]] Posted send_with_faults(int index, const CompiledStep& step, const std::byte* data) {
    const CompiledStep* const meant = faults_->before_message(step);
    count(counter(step), step);
    if (meant != nullptr) return send(index, *meant, data);
    if (step.transport != Transport::shm) return Posted::complete;
    dropped_.push_back({index, &step});
    return Posted::pending;
  }
  /// A message is lost when it would be sent: once it is the next of its pair.
  template <class OnComplete>
  int lose_dropped(OnComplete on_complete) {
    return static_cast<int>(std::erase_if(dropped_, [&](const Dropped& message) {
      if (!shm_.is_next(message.index, *message.step)) return false;
      shm_.transferred(message.index, *message.step);
      on_complete(message.index);
      return true;
    }));
  }
  Posted fetch(int index, const CompiledStep& step, std::byte* into) {
    device_->fetch(index, step, bases_->at(step.lhs, step.lhs_at), into);
    ++on_device_->fetched;
    on_device_->fetched_bytes += static_cast<std::uint64_t>(step.bytes);
    return Posted::pending;
  }
  Posted store(int index, const CompiledStep& step, const std::byte* data) {
    device_->store(index, step, data, bases_->at(step.into, step.into_at));
    ++on_device_->stored;
    on_device_->stored_bytes += static_cast<std::uint64_t>(step.bytes);
    return Posted::pending;
  }
  static void count(MessageCounters::Transport& counter, const CompiledStep& step) {
    const auto bytes = static_cast<std::uint64_t>(step.bytes);
    if (step.verb == Verb::send)
      ++counter.sent, counter.sent_bytes += bytes;
    else
      ++counter.received, counter.received_bytes += bytes;
  }
  [[nodiscard]] MessageCounters::Transport& counter(const CompiledStep& step) {
    switch (step.transport) {
      case Transport::shm:
      case Transport::ipc:
        return counters_->shm;
      case Transport::mpi:
        return counters_->mpi;
      case Transport::network:
      case Transport::device:
        break;
    }
    return counters_->network;
  }
  template <class OnComplete>
  static int tell(std::span<const int> finished, OnComplete on_complete) {
    for (const int index : finished)
      on_complete(index);
    return static_cast<int>(finished.size());
  }

  mpi::MpiPort mpi_;
  shm::ShmPort shm_;
  std::unique_ptr<mpi::NetworkPort> network_;   ///< nullptr: no message of the plan goes there.
  std::unique_ptr<device::DevicePort> device_;  ///< nullptr: no buffer of the plan is on a device.
  std::unique_ptr<ipc::IpcPort> ipc_;           ///< Carries all messages inside the node; nullptr: shared memory does.
  struct Dropped {
    int index;
    const CompiledStep* step;
  };
  std::vector<Dropped> dropped_{};  ///< Messages of shared memory that are about to be lost.
  const Bases* bases_ = nullptr;
  std::optional<OrderedSends> ordered_;  ///< Of a plan that is no collective.
  MessageCounters* counters_;
  device::Counters* on_device_;
  Faults* faults_;
  bool uses_mpi_;
  bool are_all_over_ = true;
};

}  // namespace tutti::detail
