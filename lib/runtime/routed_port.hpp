#pragma once
// More than one transport: each message goes the way that its plan was compiled for.

#include <cstdint>

#include "lib/engine/execution.hpp"
#include "lib/mpi/mpi_port.hpp"
#include "lib/shm/shm_port.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

struct Route {
  mpi::Route mpi{};
  shm::Route shm{};
  MessageCounters* counters = nullptr;
};

/// The concept Port of lib/engine/execution.hpp, of both transports.
class RoutedPort {
 public:
  RoutedPort(const Route& route, const CompiledPlan& plan)
      : mpi_(route.mpi, plan), shm_(route.shm, plan), counters_(route.counters), uses_mpi_(plan.uses_mpi) {}

  /// `tag()` is that of message 0 over MPI.
  template <class Tag>
  void begin(std::uint64_t sequence, int lane, Tag tag) {
    if (uses_mpi_) mpi_.begin(tag());
    shm_.begin(sequence, lane);
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data, std::byte* answer) {
    ++counter(step).sent;
    return step.path == Path::mpi ? mpi_.post_send(index, step, data) : shm_.post_send(index, step, data, answer);
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    ++counter(step).received;
    return step.path == Path::mpi ? mpi_.post_recv(index, step, into) : shm_.post_recv(index, step, into);
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    ++counter(step).received;
    if (step.path != Path::mpi) return shm_.post_recv_reduce(index, step, operands);
    return mpi_.post_recv(index, step, step.lands_left ? operands.lhs : operands.rhs);
  }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    const int completed = shm_.poll(on_complete);
    return uses_mpi_ ? completed + mpi_.poll(on_complete) : completed;
  }
  void require_same_kind() const { shm_.require_same_kind(); }
  /// Whether messages are pending that MPI carries.
  [[nodiscard]] bool waits_for_mpi() const { return mpi_.in_flight(); }
  void abandon() noexcept {
    mpi_.abandon();
    shm_.abandon();
  }

 private:
  [[nodiscard]] MessageCounters::Transport& counter(const CompiledStep& step) {
    return step.path == Path::mpi ? counters_->mpi : counters_->shm;
  }
  mpi::MpiPort mpi_;
  shm::ShmPort shm_;
  MessageCounters* counters_;
  bool uses_mpi_;
};

}  // namespace tutti::detail
