#pragma once
// The ways that the messages of a communicator take: shared memory, MPI or a network.

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/communicator/carrier.hpp"
#include "lib/core/communicator/counters.hpp"
#include "lib/core/communicator/members.hpp"
#include "lib/core/communicator/settings.hpp"
#include "lib/core/transport/mux.hpp"
#include "lib/device/call/device_abilities.hpp"

namespace tutti::detail {

class Paths {
 public:
  /// Collective over `comm`. The carrier, the members and the settings have to outlive it. Throws ArgumentError on all
  /// ranks, after giving the context back, if the settings ask for a transport that is not there.
  Paths(mpi::Carrier& carrier, const Members& members, const Settings& settings, int context, MPI_Comm comm);

  [[nodiscard]] Routes route(CommunicatorCounters& counters) const;
  [[nodiscard]] shm::SharedMemory shared_memory() const;
  /// Whether any message goes through shared memory.
  [[nodiscard]] bool has_links() const { return links_ != nullptr; }
  /// Whether all messages do: the same on all ranks.
  [[nodiscard]] bool shares_memory() const { return shares_memory_; }
  /// How messages travel that shared memory does not carry.
  [[nodiscard]] Transport far_transport() const { return network_ == nullptr ? Transport::mpi : Transport::network; }
  [[nodiscard]] device::Transfers devices() const { return {ways_, settings_->staging, settings_->device_tuning}; }
  /// The memory in which buffers are taken to be where algorithms are chosen: the same on all ranks, as is the next.
  [[nodiscard]] AssumedMemory assumed_memory() const { return assumed_memory_; }
  /// Whether all messages go to peers that map the memory of devices.
  [[nodiscard]] bool maps_devices() const { return ways_.ipc && shares_memory_; }
  /// Whether buffers are taken to be on devices that all peers map.
  [[nodiscard]] bool chooses_for_devices() const { return is_on_devices() && maps_devices(); }
  /// Whether calls in streams need no host: their messages stay on devices of one node. The same on all ranks.
  [[nodiscard]] bool runs_in_streams() const { return is_on_devices() && (members_->size() == 1 || maps_devices()); }
  /// The number in the node's shared memory of each rank; -1: not there.
  [[nodiscard]] std::span<const int> locals() const { return locals_; }
  /// The routing of collectives.
  [[nodiscard]] Routing routing() const;
  /// The tag of message 0 of an operation over MPI.
  [[nodiscard]] int tag(std::uint64_t sequence, std::uint32_t fingerprint) const {
    return carrier_->tags().base(context_, sequence, fingerprint);
  }
  /// The tag of all messages of a class over MPI that are part of no collective.
  [[nodiscard]] int pairwise_tag(int message_class) const { return carrier_->tags().pairwise(context_, message_class); }

 private:
  [[nodiscard]] bool is_on_devices() const { return assumed_memory_ == AssumedMemory::device; }
  void find_links();
  void drop_messages_of_earlier() const;
  void require_shared_memory();
  std::string map_links() noexcept;
  void join_network(MPI_Comm comm);
  void agree(MPI_Comm comm);
  void agree_on_ways(MPI_Comm comm, const DeviceAbilities& mine, const DeviceAbilities::Bits& of_all);
  [[nodiscard]] std::string open_network(std::string_view name) noexcept;

  mpi::Carrier* carrier_;
  const Members* members_;
  const Settings* settings_;
  int context_;
  shm::Links* links_ = nullptr;           ///< nullptr: no rank is reached through shared memory.
  std::vector<int> locals_{};             ///< The number of each rank in the links; -1: not there.
  std::vector<std::uint8_t> is_local_{};  ///< Whether the messages of each rank go through shared memory.
  std::string why_no_links_{};
  bool reaches_all_ = true;  ///< Every rank of the communicator is on this node.
  bool shares_memory_ = false;
  AssumedMemory assumed_memory_ = AssumedMemory::host;
  device::Ways ways_{};
  mpi::Network* network_ = nullptr;  ///< nullptr: MPI carries the messages that shared memory does not.
};

}  // namespace tutti::detail
