#pragma once
// The state that both ends of the messages of one execution share.

#include <cstddef>
#include <vector>

#include "lib/core/transport/shm/shm_port.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/pending_work.hpp"
#include "lib/device/ipc/exchange.hpp"
#include "lib/device/ipc/ipc_port.hpp"

namespace tutti::ipc {

struct Core {
  Core(const Route& where, shm::ShmPort by_host, const shm::SharedPlan& what);

  [[nodiscard]] const CompiledStep& step(int index) const { return plan->steps[static_cast<std::size_t>(index)]; }
  [[nodiscard]] const shm::SideStep& side(int index) const { return plan->side(index); }
  [[nodiscard]] cuda::Device& device_of(int index) const { return cuda::Devices::get().at(step(index).device); }
  [[nodiscard]] int peer_of(int index) { return host.context().local_of(step(index)); }
  [[nodiscard]] shm::Channel& channel_of(int index) { return host.context().channel_of(step(index)); }
  [[nodiscard]] shm::Ring& ring_of(int index) { return host.context().ring_of(step(index)); }
  [[nodiscard]] shm::Envelope envelope_of(int index, shm::Where where = shm::Where::cell) {
    return host.context().envelope_of(step(index), where);
  }
  [[nodiscard]] bool is_next(int index) const { return host.order().is_next(index, step(index)); }
  /// A message is over; the next of its pair may go.
  void transferred(int index) { host.transferred(index, step(index)); }
  /// Calls move(index) for messages that are pending; those for which it says so are over.
  template <class Move>
  static void move_all(std::vector<int>& pending, std::vector<int>& completed, const Move& move) {
    std::size_t kept = 0;
    for (const int index : pending)
      if (move(index))
        completed.push_back(index);
      else
        pending[kept++] = index;
    pending.resize(kept);
  }
  /// Pinned memory for a message by way of the host; no data: ask again later. Throws Error if there is none.
  [[nodiscard]] device::Block take_block(int index) const;
  void give_back(device::Block& block) const;
  /// Queues a copy; its end is told by the number of the message.
  void copy(int index, const std::byte* from, std::byte* into, CUstream stream);

  Route route;
  Exchange& exchange;
  const shm::SharedPlan* plan;
  shm::ShmPort host;       ///< Moves the messages that go by way of the host.
  cuda::PendingWork work;  ///< By step; joint reductions follow.
  const Bases* bases = nullptr;
};

}  // namespace tutti::ipc
