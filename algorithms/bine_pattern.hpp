#pragma once
// Bine trees and butterflies: ranks at distances 1, -1, 3, -5, 11, ... (De Sensi et al., SC 2025).

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "block_rounds_pattern.hpp"
#include "swing_pattern.hpp"

namespace tutti {

/// A group of any size on the positions of its largest power of two, whose peers are those of Swing.
inline PairedPositions bine_positions(int size) {
  return {size, static_cast<int>(std::bit_floor(static_cast<unsigned>(size)))};
}

/// The rounds of a reduce-scatter, the nearest distances first. Cost: O(p log p) for p ranks.
inline std::vector<BlockRound> bine_rounds(Rank rank, int size) {
  const PairedPositions pairs = bine_positions(size);
  std::vector<BlockRound> rounds;
  for (const auto& [peer, kept, given] : Swing{pairs.position(rank), pairs.core()}.rounds())
    rounds.push_back({{{pairs.at(peer), pairs.blocks(given)}}, pairs.blocks(kept), {pairs.at(peer)}});
  return pairs.with_pairs(rank, std::move(rounds));
}

/// The load of the busiest ranks in those rounds. Cost: O(p log p).
struct BineFigures {
  int rounds = 0;         ///< Of positions.
  int longest_chain = 0;  ///< The longest chain of messages.
  /// The most blocks that a position keeps in the first round and in the second, and the sum of all rounds. In all
  /// rounds backwards the sum is that of the blocks sent.
  int kept_first = 0, kept_second = 0, kept = 0, kept_twice = 0;
  explicit BineFigures(int size) {
    const PairedPositions pairs = bine_positions(size);
    const std::vector<int> distances = swing_distances(pairs.core());
    rounds = static_cast<int>(distances.size());
    std::vector<int> blocks, all(static_cast<std::size_t>(pairs.core())), far;
    for (int position = 0; position < pairs.core(); ++position)
      blocks.push_back(pairs.paired(position) ? 2 : 1), far.push_back(position);
    (void)all;
  }
};

}  // namespace tutti
