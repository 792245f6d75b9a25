#pragma once
// The transport inside a node for data on devices: peers map each other's memory. Needs no header of CUDA.

#include <cstdint>
#include <memory>

#include "lib/core/exec/port.hpp"
#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/transport/shm/fabric.hpp"
#include "lib/core/transport/shm/shm_port.hpp"
#include "lib/device/staging/block_pool.hpp"

namespace tutti::ipc {

/// The ways that messages of data on devices took inside a node.
struct Counters {
  std::uint64_t taken = 0, taken_bytes = 0;  ///< Messages that this rank took from a peer's memory on a device.
  std::uint64_t reduced = 0;                 ///< Kernels that read messages of peers in their memory.
  std::uint64_t put = 0, put_bytes = 0;      ///< Results that a kernel wrote to a peer's memory.
  std::uint64_t refused = 0;                 ///< Messages that this rank could not take, or that it had no memory for.
  std::uint64_t staged = 0, staged_bytes = 0;  ///< Messages whose data went by way of the host.
};

/// All device memory that the ranks of a node have of each other.
class Exchange;
struct Route {
  // The exchange is made at first use: programs without devices pay nothing.
  const shm::Fabric* fabric = nullptr;
  std::shared_ptr<Exchange>* exchange = nullptr;
  device::BlockPool* blocks = nullptr;
  Counters* counters = nullptr;
};

/// The port of messages of Transport::ipc; `host` is the port of the same execution that moves those which go by way of
/// the host. Local. Throws Error.
[[nodiscard]] std::unique_ptr<TransportPort> ipc_port(const Route& route, const shm::ShmPort& host,
                                                      const shm::SharedPlan& plan);

/// Memory of a device for this process, which peers may map: device::allocate_on(), and freed once no peer has it
/// mapped.
[[nodiscard]] std::byte* allocate_on(int device, std::int64_t bytes);
void free_on(int device, std::byte* data) noexcept;
/// Frees memory of any device. False: the memory is not from allocate_on().
bool free_owned(std::byte* data) noexcept;
/// Whether this is the process that allocated, and no child of a fork.
[[nodiscard]] bool is_owners_process() noexcept;

/// Closes mappings that peers have withdrawn, and frees memory that none has mapped any more. To be called now and then
/// while a rank waits.
void collect() noexcept;

}  // namespace tutti::ipc
