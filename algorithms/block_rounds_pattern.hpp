#pragma once
// Reduce-scatters and allgathers as rounds in which ranks divide sets of blocks among themselves.

#include <algorithm>
#include <numeric>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// One round of a rank in a reduce-scatter: it hands its partial sums of some blocks to peers, and works on with the
/// others, of which it gets the partial sums of each rank in `from`. Backwards, it is one round of an allgather: the
/// rank sends the blocks that it kept, and receives those that it gave. Blocks are listed in ascending order.
struct BlockRound {
  struct Part {
    Rank peer;
    std::vector<int> blocks;
  };
  std::vector<Part> given;
  std::vector<int> kept;
  std::vector<Rank> from;
};

/// A group of any size on the positions 0..core-1, core <= size <= 2 core: the first positions stand for two ranks
/// each, of which the even one sits out, as in Folding. The core need not be a power of two.
class PairedPositions {
 public:
  PairedPositions(int size, int core) : size_(size), extra_(size - core) {}
  [[nodiscard]] bool even() const { return extra_ == 0; }
  [[nodiscard]] bool paired(int position) const { return position < extra_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int core() const { return size_ - extra_; }
  /// The rank at a position, and the position of a rank or of the one that stands for it.
  [[nodiscard]] Rank at(int position) const { return Rank{position + std::min(position + 1, extra_)}; }
  [[nodiscard]] int position(Rank rank) const { return rank.value() - std::min((rank.value() + 1) / 2, extra_); }
  [[nodiscard]] bool sits_out(Rank rank) const { return rank.value() < 2 * extra_ && rank.value() % 2 == 0; }
  /// The blocks of ascending positions.
  [[nodiscard]] std::vector<int> blocks(const std::vector<int>& positions) const {
    std::vector<int> blocks;
    for (const int position : positions) {
      if (paired(position)) blocks.push_back(2 * position);
      blocks.push_back(at(position).value());
    }
    return blocks;
  }
  /// The rounds of a rank in the whole group, if `inner` are those of its position: first a rank that sits out hands
  /// over all that it has, and last it gets its own block.
  [[nodiscard]] std::vector<BlockRound> with_pairs(Rank rank, std::vector<BlockRound> inner) const {
    if (!paired(position(rank))) return inner;
    const Rank partner{rank.value() ^ 1};
    std::vector<int> all(static_cast<std::size_t>(size_));
    std::iota(all.begin(), all.end(), 0);
    if (sits_out(rank)) return {{{{partner, all}}, {}, {}}, {{}, {rank.value()}, {partner}}};
    inner.insert(inner.begin(), {{}, all, {partner}});
    inner.push_back({{{partner, {partner.value()}}}, {rank.value()}, {}});
    return inner;
  }

 private:
  int size_, extra_;
};

}  // namespace tutti
