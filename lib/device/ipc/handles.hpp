#pragma once
// The means by which one process maps an allocation of another.

#include <cuda.h>

#include <array>
#include <cstdint>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/transport/shm/segment/shared_file.hpp"

namespace tutti::ipc {

enum class Means : std::uint32_t {
  none,
  legacy,                ///< cuIpcGetMemHandle: memory of cuMemAlloc.
  descriptor,            ///< A file descriptor: memory of cuMemCreate that was made for it.
  fabric,                ///< A handle without one: memory of cuMemCreate on machines whose devices have a fabric.
  fabric_or_descriptor,  ///< The last, or else the one before: some export fabric handles that others cannot open.
};

/// What the owner tells its peers; a descriptor goes by a socket.
struct Handle {
  Means means = Means::none;
  std::array<std::byte, 64> bytes{};
  /// Means::legacy: where the memory lies in the block of 2 MiB that the driver may have taken it from. CUDA's
  /// documentation does not say whether a handle gives the memory or the block.
  std::int64_t in_block = 0;
  shm::Descriptor descriptor{};
};
/// The handle of the whole allocation. Means::none: others cannot map its memory. In the context of its device.
[[nodiscard]] Handle handle_of(const Allocation& allocation);

/// A mapping of a peer's allocation in this process.
struct Mapping {
  CUdeviceptr address = 0;
  CUdeviceptr opened = 0;  ///< What the driver gave: `address`, or the beginning of its block.
  std::int64_t bytes = 0;
  Means means = Means::none;
};
/// `device`: that of the current context, in which it is to be used. The driver's result; the system's refusals are
/// CUDA_ERROR_NOT_SUPPORTED. CUDA_ERROR_ALREADY_MAPPED: memory that its owner has freed since, which had the same
/// addresses there, is still mapped here.
[[nodiscard]] CUresult map(const Handle& handle, std::int64_t bytes, CUdevice device, Mapping& mapping);
/// Closes a mapping, in the context in which it was mapped.
void unmap(const Mapping& mapping) noexcept;

}  // namespace tutti::ipc
