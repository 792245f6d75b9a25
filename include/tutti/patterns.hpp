#pragma once
// The shapes that textbooks draw: rings, near-equal blocks, a group folded onto a power of two.
// All index arithmetic lives here; algorithms contain none.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti {

/// The ranks 0..size-1 in a circle.
class Ring {
 public:
  Ring(Rank rank, int size) : rank_(rank.value()), size_(size) {}
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] Rank next() const { return Rank{position(1)}; }
  [[nodiscard]] Rank previous() const { return Rank{position(-1)}; }
  /// The position `steps` places behind this rank.
  [[nodiscard]] int behind(int steps) const { return position(-steps); }
  /// This circle, walked in the other direction.
  [[nodiscard]] Ring reversed() const {
    Ring ring{*this};
    ring.step_ = -step_;
    return ring;
  }

 private:
  [[nodiscard]] int position(int ahead) const { return ((rank_ + step_ * ahead) % size_ + size_) % size_; }
  int rank_, size_, step_ = 1;
};

/// A region cut into blocks side by side, near-equal (the first count % parts blocks have one element more), or blocks
/// of listed sizes.
class Blocks {
 public:
  Blocks(const Region& whole, int parts) : whole_(whole), parts_(parts) {}
  /// The listed blocks; they lie side by side from element 0 on if the list has no offsets.
  Blocks(Buffer buffer, const BlockList& list)
      : whole_{buffer, Count{0}, Count{0}}, parts_(static_cast<int>(list.counts.size())), list_(list) {
    for (const Count count : list.counts) {
      starts_.push_back(whole_.count);
      whole_.count += count;
    }
    if (!list.offsets.empty()) starts_.assign(list.offsets.begin(), list.offsets.end());
  }
  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] Region operator[](int block) const {
    const Count begin = start(block);
    return {whole_.buffer, begin, list_.empty() ? start(block + 1) - begin : list_.counts[index(block)]};
  }
  /// The blocks first..last-1, which must lie side by side.
  [[nodiscard]] Region span(int first, int last) const {
    if (first >= last) return {whole_.buffer, whole_.offset, Count{0}};
    const Region from = (*this)[first], to = (*this)[last - 1];
    return {whole_.buffer, from.offset, to.offset + to.count - from.offset};
  }
  /// The blocks first..last-1, wherever they lie; neighbours in memory become one region.
  [[nodiscard]] Regions list(int first, int last) const {
    if (list_.empty()) return {span(first, last)};
    Regions regions;
    for (int block = first; block < last; ++block)
      append(regions, (*this)[block]);
    return regions;
  }
  [[nodiscard]] Count largest() const {
    if (list_.empty()) return (*this)[0].count;
    return *std::max_element(list_.counts.begin(), list_.counts.end());
  }
  /// Adds a block to a list of regions; if it continues the last region, that one grows.
  static void append(Regions& regions, const Region& block) {
    if (block.count == Count{0}) return;
    if (!regions.empty() && regions.back().buffer == block.buffer &&
        regions.back().offset + regions.back().count == block.offset)
      regions.back().count += block.count;
    else
      regions.push_back(block);
  }

 private:
  static std::size_t index(int block) { return static_cast<std::size_t>(block); }
  [[nodiscard]] Count start(int block) const {
    if (!list_.empty()) return starts_[index(block)];
    return whole_.offset + block * (whole_.count / parts_) + std::min(Count{block}, whole_.count % parts_);
  }
  Region whole_;
  int parts_;
  BlockList list_{};
  std::vector<Count> starts_;
};

/// The input or output of a problem with a block per rank there, as blocks.
inline Blocks input_blocks(const Problem& problem) {
  if (!problem.in.empty()) return {Buffer::input, problem.in};
  return {{Buffer::input, Count{0}, problem.size * problem.count}, problem.size};
}
inline Blocks output_blocks(const Problem& problem) {
  if (!problem.out.empty()) return {Buffer::output, problem.out};
  return {{Buffer::output, Count{0}, problem.size * problem.count}, problem.size};
}

/// A group of any size folded onto its largest power of two, the core (Thakur, Rabenseifner & Gropp 2005, sec. 4.5).
/// The first 2 * (size - core) ranks pair up; the even one of a pair sits out, the odd one stands for both. Those that
/// stay have positions 0..core-1, in the order of ranks.
class Folding {
 public:
  Folding(Rank rank, int size) : rank_(rank.value()), size_(size) {}
  [[nodiscard]] int core() const { return static_cast<int>(std::bit_floor(static_cast<unsigned>(size_))); }
  [[nodiscard]] int rounds() const { return std::countr_zero(static_cast<unsigned>(core())); }
  [[nodiscard]] bool paired() const { return rank_ < 2 * extra(); }
  [[nodiscard]] bool sits_out() const { return paired() && rank_ % 2 == 0; }
  [[nodiscard]] bool even() const { return extra() == 0; }
  [[nodiscard]] Rank partner() const { return Rank{rank_ ^ 1}; }
  [[nodiscard]] int position() const { return paired() ? rank_ / 2 : rank_ - extra(); }
  /// The rank whose position differs from this one's by `distance`, a power of two.
  [[nodiscard]] Rank across(int distance) const { return at(position() ^ distance); }
  /// The rank at a position.
  [[nodiscard]] Rank at(int position) const { return Rank{position < extra() ? 2 * position + 1 : position + extra()}; }

 private:
  [[nodiscard]] int extra() const { return size_ - core(); }
  int rank_, size_;
};

/// One round of recursive halving: of the blocks held so far, this rank works on with `kept`; `given` are the peer's.
struct Halving {
  Rank peer;
  Region kept, given;
};

/// The rounds of a rank of the core that halves `whole`, cut into a block per position, with peers at distance 1, 2, 4,
/// ... Afterwards it keeps one block. Backwards, the same rounds are recursive doubling.
inline std::vector<Halving> recursive_halving(const Folding& fold, const Region& whole) {
  const Blocks blocks{whole, fold.core()};
  std::vector<Halving> rounds;
  int first = 0, last = fold.core();
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const int middle = (first + last) / 2;
    Region lower = blocks.span(first, middle), upper = blocks.span(middle, last);
    const bool keeps_lower = (fold.position() & distance) == 0;
    (keeps_lower ? last : first) = middle;
    if (!keeps_lower) std::swap(lower, upper);
    rounds.push_back({fold.across(distance), lower, upper});
  }
  return rounds;
}

/// A k-nomial tree with any root whose subtrees are ranges of ranks. A range is split into `radix` near-equal parts.
/// The root of the range goes on in its own part; the first rank of every other part is its child and that part's root.
/// As parts lie side by side, reductions along the tree keep the order of ranks and gathered blocks lie side by side.
/// It has ceil(log_radix size) levels. Cost: O(radix log size).
class SplitTree {
 public:
  /// A child, and the ranks first..last-1 of its subtree, itself included.
  struct Child {
    Rank rank;
    int first, last;
  };
  SplitTree(Rank rank, int size, Rank root, int radix) : last_(size), top_(root.value()) {
    while (last_ - first_ > 1) {
      const int parts = std::min(radix, last_ - first_);
      const auto begin_of = [&, first = first_, count = last_ - first_](int part) {
        return first + static_cast<int>(static_cast<std::int64_t>(count) * part / parts);
      };
      const auto part_of = [&](int member) {
        int part = parts - 1;
        while (begin_of(part) > member)
          --part;
        return part;
      };
      const int mine = part_of(rank.value()), roots = part_of(top_);
      if (rank.value() == top_) {
        levels_.emplace_back();
        for (int part = 0; part < parts; ++part)
          if (part != mine) levels_.back().push_back({Rank{begin_of(part)}, begin_of(part), begin_of(part + 1)});
      } else if (mine != roots) {
        parent_ = top_;
        top_ = begin_of(mine);
        subtree_ = {begin_of(mine), begin_of(mine + 1)};
      }
      const int first = begin_of(mine), last = begin_of(mine + 1);
      first_ = first, last_ = last;
    }
    if (parent_ < 0) subtree_ = {0, size};
  }
  [[nodiscard]] bool is_root() const { return parent_ < 0; }
  [[nodiscard]] Rank parent() const { return Rank{parent_}; }
  /// The children by level: those with the largest subtrees first. Within a level they are ordered by rank.
  [[nodiscard]] const std::vector<std::vector<Child>>& levels() const { return levels_; }
  /// The ranks of this rank's subtree, itself included: first()..last()-1.
  [[nodiscard]] int first() const { return subtree_.first; }
  [[nodiscard]] int last() const { return subtree_.second; }

 private:
  int first_ = 0, last_ = 0, top_ = 0, parent_ = -1;
  std::pair<int, int> subtree_{0, 1};
  std::vector<std::vector<Child>> levels_;
};

/// Some ranks of a communicator, in order, and this rank's place among them (-1: not a member).
struct Group {
  std::vector<Rank> ranks;
  int me = -1;
  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] Rank at(int place) const { return ranks[static_cast<std::size_t>(place)]; }
};

}  // namespace tutti
