#pragma once
// The data that a call reads and defines, as one row of bytes: for hashes of them, and for files.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/core/run/plan_key.hpp"
#include "lib/watch/bits/hash.hpp"

namespace tutti::detail {

/// Bytes of a buffer that belong to the data, on the device of that number; -1: in memory of the host.
struct DataPiece {
  std::int64_t at = 0, bytes = 0;
  int device = -1;
};
using DataPieces = std::vector<DataPiece>;

// Without the gaps between listed blocks, and without what the collective leaves undefined: a rank that is not the root
// of a reduction has no result, nor has rank 0 of an exscan, whose last rank has no input.

[[nodiscard]] DataPieces inputs_of(const PlanKey& key);
[[nodiscard]] DataPieces results_of(const PlanKey& key);
[[nodiscard]] std::int64_t bytes_of(const DataPieces& pieces);

/// Calls `take` with the data, some at a time, each time whole elements. Data on a device are copied to `room` first.
/// Throws Error if the driver refuses that.
void read_data(const DataPieces& pieces, const void* base, std::vector<std::byte>& room,
               const std::function<void(const std::byte* data, std::size_t bytes)>& take);

/// Of the counts of listed blocks, and of the peers of messages: what has to be the same in each run. Offsets need not.
[[nodiscard]] std::uint64_t hash_of_lists(const PlanKey& key, bits::Hash& hash);

}  // namespace tutti::detail
