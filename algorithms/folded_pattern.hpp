#pragma once
// Blocks of a group that is folded onto its core.

#include "tutti/patterns.hpp"

namespace tutti {

/// The blocks that a position of the core answers for: those of the one or two ranks that it stands for, side by side.
class FoldedBlocks {
 public:
  FoldedBlocks(const Folding& fold, int size) : core_(fold.core()), extra_(size - fold.core()) {}
  /// The first block of a position; of `core`: the number of blocks.
  [[nodiscard]] int first(int position) const { return position + std::min(position, extra_); }

  /// The blocks of each position; they must lie side by side.
  [[nodiscard]] Regions regions(const Blocks& blocks) const {
    Regions regions;
    for (int position = 0; position < core_; ++position)
      regions.push_back(blocks.span(first(position), first(position + 1)));
    return regions;
  }

  /// Blocks first..last-1.
  struct Range {
    int first, last;
  };
  /// The blocks of the `count` positions, a power of two, that differ from `position` in the lowest bits only.
  [[nodiscard]] Range around(int position, int count) const {
    const int begin = position & ~(count - 1);
    return {first(begin), first(begin + count)};
  }
  /// The most blocks that any `count` positions at distances of core/count have.
  [[nodiscard]] int most_apart(int count) const { return count + (extra_ * count + core_ - 1) / core_; }
  /// The most blocks that any `count` positions side by side have.
  [[nodiscard]] int most_together(int count) const { return count + std::min(extra_, count); }
  /// The longest chain of messages through the core, from one rank that sits out to another: all positions' bits are
  /// flipped on the way, so more than half of them have to be pairs.
  [[nodiscard]] int longest_chain(const Folding& fold) const {
    if (fold.even()) return fold.rounds();
    return fold.rounds() + (2 * extra_ > core_ ? 2 : 1);
  }

 private:
  int core_, extra_;
};

/// Every second region, from number `from` on.
inline Regions every_second(const Regions& regions, std::size_t from) {
  Regions half;
  for (std::size_t i = from; i < regions.size(); i += 2)
    half.push_back(regions[i]);
  return half;
}

/// The first elements of `area`, cut like `regions`.
inline Regions laid_out(const Regions& regions, const Region& area) {
  Regions laid;
  Count at = area.offset;
  for (const Region& region : regions) {
    laid.push_back({area.buffer, at, region.count});
    at += region.count;
  }
  return laid;
}

/// The elements of a region after the first `first`.
inline Region rest(const Region& region, Count first) {
  return {region.buffer, region.offset + first, region.count - first};
}

/// The blocks with the listed numbers.
inline Regions chosen(const Blocks& blocks, const std::vector<int>& numbers) {
  Regions regions;
  for (const int number : numbers)
    Blocks::append(regions, blocks[number]);
  return regions;
}

/// All blocks but one.
inline Regions others(const Blocks& blocks, int but) {
  Regions regions = blocks.list(0, but);
  for (const Region& region : blocks.list(but + 1, blocks.parts()))
    Blocks::append(regions, region);
  return regions;
}

inline Count total(const Regions& regions) {
  Count sum;
  for (const Region& region : regions)
    sum += region.count;
  return sum;
}

}  // namespace tutti
