#pragma once
// The values that ranks give to calls. All results of reductions are exact, in any order of the operands.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/soak/call.hpp"

namespace tutti::soak {

using ByteVector = std::vector<std::byte>;

/// Values recur after so many elements, a prime, so that they and their sums cost little more than copies.
inline constexpr std::int64_t period = 1021;

/// Writes the input of `rank` to a call in its repetition number `repetition`, from element `first` on, as many as
/// there is room for. Elements are numbered through all blocks, without gaps.
void write_input(const Call& call, int repetition, int rank, std::int64_t first, std::span<std::byte> into);

/// Fills the rest of `data`, which has `known` bytes, by repeating those.
void repeat(std::span<std::byte> data, std::size_t known);

}  // namespace tutti::soak
