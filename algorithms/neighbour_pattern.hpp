#pragma once
// Neighbour exchange: the peers of a rank, round by round, and the blocks that they exchange.

#include "tutti/patterns.hpp"

namespace tutti {

/// An even number of ranks in a circle, in pairs 0 and 1, 2 and 3, ... An odd last rank sits out; the rank before it
/// stands for it, so that the last pair has three blocks. In round 0 pairs exchange blocks; from then on each rank
/// exchanges with its neighbours on either side in turn the pair of blocks that it received last.
class NeighbourPairs {
 public:
  /// Blocks first..last-1.
  struct Range {
    int first, last;
  };
  NeighbourPairs(Rank rank, int size) : rank_(rank.value()), size_(size), even_size_(size / 2 * 2) {}
  [[nodiscard]] bool sits_out() const { return rank_ == even_size_; }
  [[nodiscard]] bool stands_for_last() const { return size_ > even_size_ && rank_ == even_size_ - 1; }
  [[nodiscard]] int rounds() const { return even_size_ / 2; }
  [[nodiscard]] Rank neighbour(int round) const {
    const bool up = rank_ % 2 == round % 2;  // even ranks turn up in even rounds
    return Rank{(rank_ + (up ? 1 : even_size_ - 1)) % even_size_};
  }
  /// The blocks that this rank starts with, and the one that it pairs up with.
  [[nodiscard]] Range own() const { return {rank_, rank_ + (stands_for_last() ? 2 : 1)}; }
  [[nodiscard]] Range partners() const { return NeighbourPairs{neighbour(0), size_}.own(); }
  /// The pair of blocks that are new after a round, of round 0 its own pair.
  [[nodiscard]] Range received(int round) const {
    const int pairs = rounds(), away = (round + 1) / 2;
    const bool up = rank_ % 2 == round % 2;
    const int pair = (rank_ / 2 + (up ? away : pairs - away)) % pairs;
    return {2 * pair, pair == pairs - 1 ? size_ : 2 * pair + 2};
  }

 private:
  int rank_, size_, even_size_;
};

/// The elements that a rank adds to each block: its input, and before block `folded_blocks` the last rank's too.
struct FoldedContribution {
  Blocks in;
  Region folded;
  int folded_blocks = 0;
  /// Where a range lies in an area that starts with block `begin`.
  [[nodiscard]] Region within(const Region& area, int begin, NeighbourPairs::Range range) const {
    return {area.buffer, area.offset + in.span(begin, range.first).count, in.span(range.first, range.last).count};
  }
  [[nodiscard]] Regions to(NeighbourPairs::Range range) const {
    const NeighbourPairs::Range both{std::min(range.first, folded_blocks), std::min(range.last, folded_blocks)};
    return {within(folded, 0, both), in.span(std::max(range.first, folded_blocks), range.last)};
  }
};

}  // namespace tutti
