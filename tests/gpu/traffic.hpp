#pragma once
// How many bytes a collective must move at least, as the devices see it: what its limit is made of.

#include <cstdint>
#include <optional>
#include <string_view>

namespace tutti::gpu {

/// Where the ranks are: all on one device, or each on a device of its own.
enum class Placement : bool { shared, spread };

/// The least traffic for `bytes` in the larger buffer of each of `ranks` ranks. On one device: bytes read and written
/// in its memory, where each rank reads the buffers of the others directly. On a device each: bytes that the busiest
/// link brings to a device. Nothing for other collectives.
[[nodiscard]] std::optional<double> least_traffic(std::string_view collective, int ranks, std::int64_t bytes,
                                                  Placement placement);

}  // namespace tutti::gpu
