#pragma once
// The interface of a transport that is no part of the core (ucx/). It registers itself under a name, by which users
// choose it.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/core/exec/port.hpp"

namespace tutti::mpi {

class Network;

/// Where an execution's messages go: the same for all executions of a communicator.
struct NetworkRoute {
  Network* network = nullptr;  ///< nullptr: no message goes on a network.
  int context = 0;
  int me = 0;                  ///< Rank in the communicator.
  std::span<const int> ranks;  ///< Rank in the carrier of each rank of the communicator.
  std::span<const int> nodes;  ///< The node of each.
};

/// How the ranks of one carrier reach each other.
class Network {
 public:
  Network() = default;
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  virtual ~Network() = default;

  /// Collective over `comm`, whose ranks have the numbers `ranks` in the carrier: makes them reachable for each other,
  /// in O(log p) rounds. Returns why this rank cannot reach all of them; empty if it can.
  [[nodiscard]] virtual std::string connect(MPI_Comm comm, std::span<const int> ranks) = 0;
  /// Local. The plan outlives the port.
  [[nodiscard]] virtual std::unique_ptr<TransportPort> port(const NetworkRoute& route, const CompiledPlan& plan) = 0;
  /// Local. Whether its ports take data in memory of CUDA's devices.
  [[nodiscard]] virtual bool takes_device_memory() const { return false; }
};

/// A kind of network that is linked in. Give one with static lifetime to a NetworkRegistration.
struct NetworkDriver {
  std::string_view name;
  /// Local. Opens the network for the carrier `comm`; throws Error that says why it cannot be opened here.
  std::unique_ptr<Network> (*open)(MPI_Comm comm);
  /// Local, never blocks. Moves all messages of this process, also those that are over here but that a peer waits to
  /// hear of: every thread that waits calls it now and then (lib/core/run/progress.hpp). Does nothing if no network was
  /// opened.
  void (*progress)() noexcept;
  /// MPI_Finalize has begun, MPI still works: leaves the network, together with all ranks that were connected.
  void (*finalize)() noexcept;
  /// Local. Throws ArgumentError if a setting for it in this process's environment is not allowed.
  void (*check_settings)();
  /// Local. The means by which it would send CUDA's device memory as it is, for people: "cuda_copy, cuda_ipc"; empty:
  /// it has none. Throws Error that says why it cannot be opened here.
  std::string (*means_for_device_memory)();
};

class NetworkRegistration {
 public:
  explicit NetworkRegistration(const NetworkDriver& driver);
};

[[nodiscard]] std::span<const NetworkDriver* const> network_drivers();
/// nullptr: none of that name is linked in.
[[nodiscard]] const NetworkDriver* find_network_driver(std::string_view name);

}  // namespace tutti::mpi
