#pragma once
// The transport between the devices of this rank and its staging buffer.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "lib/core/exec/port.hpp"
#include "lib/core/memory/memory_kind.hpp"

namespace tutti::device {

/// The data of staged plans that left a device, and that reached one.
struct Counters {
  std::uint64_t fetched = 0, fetched_bytes = 0, stored = 0, stored_bytes = 0;
  std::uint64_t host_runs = 0, device_runs = 0;  ///< Runs of staged plans, by their worker.
};

// Local; each throws Error.

/// The number of the device that holds the memory; makes what work on it needs, at first. -1: the host's memory.
[[nodiscard]] int device_of(const Allocation& allocation);
/// The number of the device of this thread's current context; throws Error if there is none.
[[nodiscard]] int current_device();
/// The fetches and stores of one execution: a receive copies from the device into the staging buffer, a send the other
/// way, with the last pass of the operation on the device if the plan says so. Both outlive the port.
[[nodiscard]] std::unique_ptr<TransportPort> device_port(const CompiledPlan& plan, Counters& counters);

/// Memory of the host, pinned for the device of that number and all others; no data: there is not as much.
struct Pinned {
  std::byte* data = nullptr;
  std::byte* on_device = nullptr;  ///< The address by which kernels, and streams that wait for words, find it.
};
[[nodiscard]] Pinned allocate_pinned(int device, std::int64_t bytes);
void free_pinned(int device, std::byte* data, std::int64_t bytes) noexcept;
/// Whether streams of the device wait for words and write them: asked of the driver, once. Pins memory.
[[nodiscard]] bool can_wait_in_streams(int device);
/// Memory of the device.
[[nodiscard]] std::byte* allocate_on(int device, std::int64_t bytes);
void free_on(int device, std::byte* data) noexcept;

/// Copies data of the device to memory of the host, and waits for that alone: work that makes the data has to be over.
void copy_to_host(int device, const std::byte* from, std::byte* into, std::int64_t bytes);

/// Bytes that are copied from one place to another, each the host's or a device's.
struct PieceCopy {
  std::byte* into = nullptr;
  const std::byte* from = nullptr;
  std::int64_t bytes = 0;
};
/// Copies them by the device, and waits for that alone: work that makes the data has to be over.
void copy_pieces(int device, std::span<const PieceCopy> pieces);

/// Memory of the device, without a call that may wait for it. Peers do not map it. nullptr: there is not as much.
[[nodiscard]] std::byte* allocate_in_order(int device, std::int64_t bytes);
void free_in_order(int device, std::byte* data) noexcept;

/// MPI_Finalize: gives back all that device_of() made.
void release_devices() noexcept;

}  // namespace tutti::device
