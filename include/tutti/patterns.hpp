#pragma once
// The shapes that textbooks draw: rings, near-equal blocks, a group folded onto a power of two.
// All index arithmetic lives here; algorithms contain none.

#include <algorithm>
#include <bit>
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

 private:
  [[nodiscard]] int position(int ahead) const { return ((rank_ + ahead) % size_ + size_) % size_; }
  int rank_, size_;
};

/// A region cut into `parts` near-equal blocks: the first count % parts blocks have one element more.
class Blocks {
 public:
  Blocks(const Region& whole, int parts) : whole_(whole), parts_(parts) {}
  [[nodiscard]] int parts() const { return parts_; }
  [[nodiscard]] Region operator[](int block) const { return span(block, block + 1); }
  /// The blocks first..last-1, which lie side by side.
  [[nodiscard]] Region span(int first, int last) const {
    return {whole_.buffer, whole_.offset + start(first), start(last) - start(first)};
  }
  [[nodiscard]] Count largest() const { return (*this)[0].count; }

 private:
  [[nodiscard]] Count start(int block) const {
    return block * (whole_.count / parts_) + std::min(Count{block}, whole_.count % parts_);
  }
  Region whole_;
  int parts_;
};

/// A group of any size folded onto its largest power of two, the core (Thakur, Rabenseifner & Gropp 2005, sec. 4.5).
/// The first 2 * (size - core) ranks pair up; the even one of a pair sits out, the odd one stands for both.
/// Positions 0..core-1 of those that stay follow the order of ranks.
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
  /// The rank at the position that differs from this one's by `distance`, a power of two.
  [[nodiscard]] Rank across(int distance) const { return at(position() ^ distance); }

 private:
  [[nodiscard]] int extra() const { return size_ - core(); }
  [[nodiscard]] Rank at(int position) const { return Rank{position < extra() ? 2 * position + 1 : position + extra()}; }
  int rank_, size_;
};

/// One round of recursive halving: of the blocks held so far, `kept` are worked on further, `given` are the peer's.
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

/// Some ranks of a communicator, in order, and this rank's place among them (-1: not a member).
struct Group {
  std::vector<Rank> ranks;
  int me = -1;
  [[nodiscard]] int size() const { return static_cast<int>(ranks.size()); }
  [[nodiscard]] Rank at(int place) const { return ranks[static_cast<std::size_t>(place)]; }
};

}  // namespace tutti
