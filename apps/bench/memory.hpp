#pragma once
// The kinds of memory that buffers are made of, and the devices that have it.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/core/memory/memory_kind.hpp"
#include "tutti/communicator.hpp"
#include "tutti/types.hpp"

namespace tutti::bench {

struct BenchMemory;

/// Gives a buffer back to the memory that it came from.
struct FreeBuffer {
  const BenchMemory* memory = nullptr;
  void operator()(std::byte* data) const noexcept;
};
using Buffer = std::unique_ptr<std::byte, FreeBuffer>;

/// A kind of memory. To add one: an entry in memory.cpp.
struct BenchMemory {
  std::string_view name;
  MemoryKind kind;
  std::byte* (*allocate)(Bytes size);  ///< nullptr if there is not enough.
  void (*free)(std::byte* data);
  /// Sets all bytes to zero, so that the data is then as if the program had just computed it: by ordinary stores of the
  /// host, or by the device where programs would compute there.
  void (*rewrite)(std::span<std::byte> data);
  /// To and from the host, which checks values.
  void (*write)(std::byte* data, std::span<const std::byte> from);
  void (*read)(const std::byte* data, std::span<std::byte> into);
  Bytes (*available)();  ///< On this node, for all its ranks together; 0: unknown.

  [[nodiscard]] bool needs_driver() const { return kind != MemoryKind::host; }
  [[nodiscard]] bool is_readable_by_host() const { return tutti::is_readable_by_host({kind}); }
};

[[nodiscard]] std::span<const BenchMemory> memories();

/// Empty if there is not enough memory.
[[nodiscard]] Buffer allocate(const BenchMemory& memory, Bytes size);

/// Collective over `comm`. Makes the device `local rank % devices` ready on each rank, for a memory that needs one.
/// Returns its number, how many there are and its name; empty: the memory needs none. Throws apps::InputError, on all
/// ranks alike, if one has no device.
[[nodiscard]] std::string choose_device(const BenchMemory& memory, const Communicator& comm);

/// Whether MPI's own calls take such memory: one that knows nothing of CUDA crashes on memory of a device.
[[nodiscard]] bool mpi_takes(const BenchMemory& memory);

}  // namespace tutti::bench
