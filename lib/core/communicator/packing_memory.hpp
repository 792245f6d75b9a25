#pragma once
// Memory of the host into which calls of lists of buffers pack short ones, kept for the next calls.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "lib/core/memory/aligned_buffer.hpp"

namespace tutti::detail {

/// Not thread-safe.
class PackingMemory {
 public:
  struct Block {
    AlignedBuffer memory{};
    std::size_t bytes = 0;
  };

  /// The smallest block that is large enough; a new one if there is none. A call that is repeated gets the block that
  /// it had, so that its plan is found by its addresses.
  [[nodiscard]] Block take(std::size_t bytes) {
    const auto found = std::ranges::find_if(unused_, [&](const Block& block) { return block.bytes >= bytes; });
    if (found == unused_.end()) {
      constexpr std::size_t page = 4096;
      const std::size_t rounded = std::bit_ceil(std::max(bytes, page));
      return {AlignedBuffer{rounded}, rounded};
    }
    Block block = std::move(*found);
    unused_.erase(found);
    return block;
  }
  void give_back(Block block) {
    const auto place = std::ranges::lower_bound(unused_, block.bytes, {}, &Block::bytes);
    unused_.insert(place, std::move(block));
    if (unused_.size() > most_kept) unused_.erase(unused_.begin());
  }

 private:
  /// More calls than that are seldom under way at once.
  static constexpr std::size_t most_kept = 16;
  std::vector<Block> unused_;  ///< By size.
};

}  // namespace tutti::detail
