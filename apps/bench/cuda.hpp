#pragma once
// The memory of CUDA devices, by functions of the driver that are found when the program runs: every build has them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tutti/types.hpp"

struct CUstream_st;

namespace tutti::bench::cuda {

/// Loads the driver, and makes the primary context of the device `local_rank % devices` current in this thread. Returns
/// a description of the device. Throws Error, which says why, if there is no driver or no device.
[[nodiscard]] std::string use_device(int local_rank);

// The rest needs a device in use. Nothing below fails but for a fault of the driver: then it throws Error.

/// Each gives nullptr if there is not enough memory.
[[nodiscard]] std::byte* allocate(Bytes size);
[[nodiscard]] std::byte* allocate_managed(Bytes size);
[[nodiscard]] std::byte* allocate_pinned(Bytes size);
/// Memory of a device, or managed.
void free(std::byte* data);
void free_pinned(std::byte* data);

/// Each is over when it returns.
void fill_with_zeros(std::span<std::byte> data);
void write(std::byte* data, std::span<const std::byte> from);
void read(const std::byte* data, std::span<std::byte> into);

/// A stream that waits for no other, made at first use and kept until the process ends.
[[nodiscard]] CUstream_st* stream();
/// Until all that was put into it is over. driver_counts() leaves this out.
void wait_for_stream();

/// What this process has asked of the driver so far.
struct DriverCounts {
  /// But for looks at events, and for changes of the context around them: their number depends on how long work takes.
  std::uint64_t calls = 0;
  std::uint64_t kernels = 0, copies = 0;
  std::uint64_t synchronisations = 0;  ///< Calls in which the host may wait for a device.
  std::uint64_t traffic_bytes = 0;     ///< What kernels and copies read and write in memory on devices.
};
/// Nothing if the driver does not count, as NVIDIA's: the fake one of tests does.
[[nodiscard]] std::optional<DriverCounts> driver_counts();

}  // namespace tutti::bench::cuda
