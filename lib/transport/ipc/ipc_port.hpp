#pragma once
// The transport inside a node for data on devices: peers map each other's memory. Needs no header of CUDA.

#include <cstdint>
#include <memory>
#include <span>

#include "lib/exec/port.hpp"
#include "lib/transport/device/block_pool.hpp"
#include "lib/transport/shm/fabric.hpp"
#include "lib/transport/shm/plan/shared_plan.hpp"
#include "lib/transport/shm/route.hpp"

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

/// The concept Port of lib/exec/port.hpp, for the messages of Transport::ipc. Only plans on device buffers pay for its
/// virtual calls.
class IpcPort {
 public:
  IpcPort() = default;
  IpcPort(const IpcPort&) = delete;
  IpcPort& operator=(const IpcPort&) = delete;
  virtual ~IpcPort() = default;

  virtual void begin(std::uint64_t sequence, int lane) = 0;
  virtual void bind(const Bases& bases) = 0;
  [[nodiscard]] virtual std::int64_t reduced(const CompiledStep& step) const = 0;
  virtual Posted post_send(int index, const CompiledStep& step, const std::byte* data) = 0;
  virtual Posted post_recv(int index, const CompiledStep& step, std::byte* into) = 0;
  virtual Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) = 0;
  /// The steps that have completed since the last call; valid until the next one.
  [[nodiscard]] virtual std::span<const int> poll() = 0;
  /// Throws Error if a message that is waited for has come in another lane: another kind of call.
  virtual void require_same_kind() const = 0;
  /// The step of a message that is not over, a receive rather than a send; -1: there is none.
  [[nodiscard]] virtual int unfinished() const = 0;
  virtual void abandon() noexcept = 0;
};

/// Local. Throws Error.
[[nodiscard]] std::unique_ptr<IpcPort> ipc_port(const Route& route, const shm::Route& shm, const shm::SharedPlan& plan);

/// Memory of a device for this process, which peers may map: device::allocate_on(), and freed once no peer has it
/// mapped.
[[nodiscard]] std::byte* allocate_on(int device, std::int64_t bytes);
void free_on(int device, std::byte* data) noexcept;
/// The same of any device. False: the memory is not from allocate_on().
bool free_owned(std::byte* data) noexcept;
/// Whether this is the process that allocated, and no child of a fork.
[[nodiscard]] bool is_owners_process() noexcept;

/// Closes mappings that peers have withdrawn, and frees memory that none has mapped any more. To be called now and then
/// while a rank waits.
void collect() noexcept;

}  // namespace tutti::ipc
