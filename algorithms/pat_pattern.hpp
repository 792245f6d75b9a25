#pragma once
// Parallel aggregated trees: every block has a binomial tree of its own, and blocks of several trees share messages.

#include <algorithm>
#include <bit>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// The messages of PAT's allgather, the same for all ranks. A rank gets the block of the rank `offset` behind it from
/// the rank behind it by the lowest bit of `offset`. First come offsets that are multiples of `stride`, the largest
/// distances first; each block then has a tree over the next stride - 1 ranks, along which it moves together with the
/// blocks at multiples of `stride` behind it. Backwards, the same messages are a reduce-scatter.
class ParallelTrees {
 public:
  /// Blocks at the offsets first, first + step, ... come from the rank behind by `distance`.
  struct Message {
    int distance, first, step;
  };
  /// At most `blocks` blocks per message, rounded down to a power of two; 0: as many as there are.
  ParallelTrees(int size, int blocks) : size_(size) {
    if (size == 1) return;
    const int farthest = whole() / 2, most = blocks < 1 ? farthest : std::min(blocks, farthest);
    while (whole() / stride_ > most)
      stride_ *= 2;
    for (int distance = farthest; distance >= stride_; distance /= 2)
      messages_.push_back({distance, distance, 2 * distance});
    for (int offset = 1; offset < std::min(stride_, size); ++offset)
      messages_.push_back({lowest_bit(offset), offset, stride_});
  }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] const std::vector<Message>& messages() const { return messages_; }
  /// The offsets of a message.
  [[nodiscard]] std::vector<int> offsets(const Message& message) const {
    std::vector<int> offsets;
    for (int offset = message.first; offset < size_; offset += message.step)
      offsets.push_back(offset);
    return offsets;
  }
  /// A reduce-scatter handles offsets from the last to the first, so that of those of one height, the exponent of their
  /// lowest bit, only one has partial sums at a time. `sum` is where those are, `spare` where a message for them may
  /// arrive, as numbers below `sums` and `spares`.
  [[nodiscard]] int sums() const { return heights() == 1 ? size_ / 2 : heights() * together(); }
  [[nodiscard]] int sum(int offset) const { return (height(offset) - 1) * together() + offset / stride_; }
  [[nodiscard]] int spares() const { return heights() == 1 ? (size_ + 1) / 4 : (heights() - 1) * together(); }
  [[nodiscard]] int spare(int offset) const { return std::max(height(offset) - 2, 0) * together(); }
  /// The longest chain of messages, each of which carries data of the one before. It has one of each distance, unless
  /// the blocks that came over the largest go no further.
  [[nodiscard]] int longest_chain() const {
    return distances() - ((stride_ == whole() ? size_ < whole() : 4 * size_ <= 3 * whole()) ? 1 : 0);
  }
  /// The longest chain of a reduce-scatter. If two trees move together, the smaller one's sum may wait for the other's
  /// space.
  [[nodiscard]] int longest_chain_of_sums() const {
    constexpr int least_stride = 8;  // of trees whose root uses its space for messages more than once
    const bool waits = 2 * stride_ == whole() && stride_ >= least_stride && size_ > stride_ + 1;
    return waits ? distances() : longest_chain();
  }

 private:
  /// Offsets at a distance below `stride` from each other: their trees move together.
  [[nodiscard]] int together() const { return (size_ + stride_ - 1) / stride_; }
  [[nodiscard]] int height(int offset) const { return std::countr_zero(static_cast<unsigned>(offset | stride_)); }
  [[nodiscard]] int heights() const { return std::countr_zero(static_cast<unsigned>(stride_)); }
  [[nodiscard]] int whole() const { return static_cast<int>(std::bit_ceil(static_cast<unsigned>(size_))); }
  [[nodiscard]] int distances() const { return std::countr_zero(static_cast<unsigned>(whole())); }
  static int lowest_bit(int offset) { return offset & -offset; }
  int size_, stride_ = 1;
  std::vector<Message> messages_;
};

/// The partial sums of a rank in a reduce-scatter along the trees.
class PartialSums {
 public:
  /// No block has more than `block` elements. `sums` and `spares` have room for as many as the trees want.
  PartialSums(const ParallelTrees& trees, const Region& sums, const Region& spares, Count block)
      : trees_(trees), sums_(sums), spares_(spares), block_(block), begun_(static_cast<std::size_t>(trees.size())) {}
  /// Whether there is a sum yet for the block `offset` behind; else this rank has only its own part.
  [[nodiscard]] bool has(int offset) const { return begun_[static_cast<std::size_t>(offset)]; }
  void add(int offset) { begun_[static_cast<std::size_t>(offset)] = true; }
  [[nodiscard]] Region at(int offset, Count count) const { return slot(sums_, trees_.sum(offset), count); }
  /// Where the k-th block of a message is received for it.
  [[nodiscard]] Region incoming(int offset, std::size_t k, Count count) const {
    return has(offset) ? slot(spares_, trees_.spare(offset) + static_cast<int>(k), count) : at(offset, count);
  }

 private:
  [[nodiscard]] Region slot(const Region& area, int number, Count count) const {
    return {area.buffer, area.offset + number * block_, count};
  }
  const ParallelTrees& trees_;
  Region sums_, spares_;
  Count block_;
  std::vector<bool> begun_;
};

}  // namespace tutti
