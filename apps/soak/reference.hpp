#pragma once
// The result that a call must give, computed here from all ranks' inputs, without the library's reductions or the MPI.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/soak/call.hpp"

namespace tutti::soak {

/// A block of the output of one rank. Elements of an input are numbered through its blocks, without gaps.
struct Source {
  int first_rank, ranks;  ///< Whose elements: of one rank, or of several, combined in the order of the ranks.
  std::int64_t first;     ///< Of their elements.
};

/// One for each block of the output of `rank`. Empty: the output is left alone.
[[nodiscard]] std::vector<Source> sources_of(const Call& call, int rank);

/// Writes the elements of a block, as many as there is room for.
void write_result(const Call& call, int repetition, const Source& from, std::span<std::byte> into);

}  // namespace tutti::soak
