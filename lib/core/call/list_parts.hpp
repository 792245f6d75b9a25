#pragma once
// The parts into which a list of buffers is cut: each becomes one ordinary call.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/core/call/arguments.hpp"
#include "tutti/lists.hpp"

namespace tutti::detail {

/// Packing costs two copies of the data and saves a call. Measured on 2 and 4 ranks of a node with two processors,
/// lists of 8 and 30 buffers, packed over not packed: buffers of 16 KiB take 0.79 of the time in an allreduce, 0.80 in
/// a broadcast, 0.92 in a reduce_scatter and 1.17 in an allgather, those of 32 KiB 0.90, 1.15, 1.15 and 1.24. A limit
/// of 1 MiB is as good as 4 MiB, and better than 256 KiB (docs/experiments/lists.md).
struct ListTuning {
  /// Buffers of up to so many bytes are packed; of an allgather or a reduce_scatter, the bytes of all blocks count.
  std::int64_t packed = 16 * 1024L;
  /// The largest sum of the buffers that are packed together.
  std::int64_t most = 1024L * 1024;
};
inline constexpr ListTuning list_tuning{};

/// A buffer of the list, checked.
struct Member {
  const std::byte* in = nullptr;  ///< nullptr: this rank does not read it.
  std::byte* out = nullptr;
  std::int64_t block = 0;  ///< The bytes of the count.
  BufferMemory in_memory{}, out_memory{};
};

/// Buffers that move as one call.
struct ListPart {
  std::vector<Member> members{};
  std::int64_t block = 0;  ///< The bytes of their counts together.
};

/// How many blocks a buffer has.
[[nodiscard]] inline int rows_of(Collective collective, int ranks) {
  return collective == Collective::allgather || collective == Collective::reduce_scatter ? ranks : 1;
}

/// The ordinary call on one buffer.
[[nodiscard]] Call call_of(const ListCall& list, const void* in, void* out, Count count);

/// Cuts the list by its counts alone, so that all ranks do the same. Throws ArgumentError for whatever is not allowed.
/// Needs an Entry.
[[nodiscard]] std::vector<ListPart> parts_of(const ListCall& list, const Communicator& comm, const Options& options);

}  // namespace tutti::detail
