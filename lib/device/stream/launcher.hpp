#pragma once
// Puts programs into streams: the landing areas and the flags of a communicator. Needs no header of CUDA.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/device/ipc/ipc_port.hpp"
#include "lib/device/stream/parts.hpp"

struct CUstream_st;

namespace tutti::stream {

/// The programs of this rank that were launched, and the operations that the host moved for streams (gate.hpp).
struct Counters {
  std::uint64_t programs = 0, kernels = 0, copies = 0, waits = 0, writes = 0;
  std::uint64_t parts = 0;  ///< Programs of long calls, behind the first.
  std::uint64_t gated = 0;  ///< Operations that the host moved.
};

/// The facts about a communicator all of whose ranks share memory.
struct Setup {
  const shm::Fabric* fabric = nullptr;
  std::shared_ptr<ipc::Exchange>* exchange = nullptr;
  std::span<const int> locals{};  ///< The number in the fabric of each rank.
  int me = 0;
  int context = 0;  ///< No two communicators of a rank have the same at a time.
  std::int64_t memory_bytes = 0;
  Counters* counters = nullptr;
};

/// The memory of a rank that its peers map.
struct Offer {
  int is_there = 0;
  int number = -1;
  std::uint32_t generation = 0;
  std::int64_t offset = 0;
  std::int64_t flags_at = 0;  ///< In the heap of the node.
};

/// The buffers of a plan, for peers.
struct Loan {
  struct Buffer {
    int number = -1;  ///< -1: peers cannot map it.
    std::uint32_t generation = 0;
    std::int64_t offset = 0;
  };
  Buffer in{}, out{};
};

/// The buffers of peers that the program of a plan reaches, and this rank's, for theirs.
class Reach {
 public:
  Reach() = default;
  Reach(const Reach&) = delete;
  Reach& operator=(const Reach&) = delete;
  virtual ~Reach() = default;

  [[nodiscard]] virtual Loan mine() const = 0;
  enum class State : std::uint8_t { refused, coming, mapped };
  /// Maps what a program reaches; `coming`: ask again, while all ranks that lend something ask, too.
  [[nodiscard]] virtual State map(const Program& program, std::span<const Loan> of_all) = 0;
};

/// Calls of one communicator run in the order in which they are made, whatever their streams.
class Launcher {
 public:
  Launcher() = default;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;
  virtual ~Launcher() = default;

  [[nodiscard]] virtual Offer offer() const = 0;
  /// Maps the memory of the peers. False: some of it cannot be mapped.
  [[nodiscard]] virtual bool accept(std::span<const Offer> of_all) = 0;
  [[nodiscard]] virtual Room room() const = 0;
  /// The number of the device whose streams it serves, in one context.
  [[nodiscard]] virtual int device() const = 0;
  /// To be called before launch(). Throws Error: nothing has happened.
  virtual void enter(CUstream_st* stream) = 0;
  /// Puts a call into a stream, which may be captured. `reach`: what its program needs. Throws Error: a part of it may
  /// be there.
  virtual void launch(const Pieces& call, const void* in, void* out, const Reach* reach, CUstream_st* stream) = 0;
  /// The reach of the plan with these buffers, until give_back(), or as long as the launcher. Throws Error.
  [[nodiscard]] virtual Reach& lend(const void* in, void* out) = 0;
  virtual void give_back(Reach& reach) noexcept = 0;
  /// Whether a program waits still, or runs. Throws Error if the device was lost.
  [[nodiscard]] virtual bool is_busy() const = 0;
};

/// Local: memory on the device that is current in this thread. nullptr: there is none, not as much memory,
/// or its streams do not wait for words.
[[nodiscard]] std::unique_ptr<Launcher> make_launcher(const Setup& setup);

}  // namespace tutti::stream
