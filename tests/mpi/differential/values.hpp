#pragma once
// The values that ranks give to calls. All results of reductions are exact, in any order of the operands.

#include <cstddef>
#include <vector>

#include "call.hpp"

namespace tutti::differential {

using ByteVector = std::vector<std::byte>;

/// Elements first..first+count-1 of the input of `rank` to a call in its repetition number `repetition`. Elements are
/// numbered through all blocks, without gaps. Up to 17 ranks, sums of bf16 are exact.
[[nodiscard]] ByteVector input_of(const Call& call, int repetition, int rank, std::int64_t first, std::int64_t count);

}  // namespace tutti::differential
