#pragma once
// Every size of calls in streams. None is measured yet: tutti-bench --memory device --mode stream.

#include <cstdint>

namespace tutti::stream {

struct Tuning {
  /// Memory on its device that each rank of a communicator gives to calls in streams: half for messages of its peers,
  /// half for scratch. Longer calls run in parts. TUTTI_STREAM_MEMORY has another value.
  std::int64_t memory_bytes = std::int64_t{16} << 20;
  /// A program has no more segments of a block than these, if the algorithm's name asks for segments.
  std::int64_t most_segments = 1024;
  /// No rank's program reaches the buffers of peers if its plan has more steps: the time to choose their ways grows
  /// with the square.
  std::int64_t most_direct_steps = 4096;
};
inline constexpr Tuning tuning{};

}  // namespace tutti::stream
