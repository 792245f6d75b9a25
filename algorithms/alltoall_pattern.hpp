#pragma once
// The pairs of ranks that exchange blocks in an alltoall, round by round.

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// This rank sends one block to `to` and receives one from `from`.
struct BlockExchange {
  int to, from;
};

/// Exchanges by distance: to the rank 1, 2, ..., p-1 ahead, and from the rank as far behind.
inline std::vector<BlockExchange> exchanges_by_distance(const Problem& problem) {
  std::vector<BlockExchange> exchanges;
  const Ring ring{problem.rank, problem.size};
  for (int distance = 1; distance < problem.size; ++distance)
    exchanges.push_back({ring.behind(-distance), ring.behind(distance)});
  return exchanges;
}

/// Exchanges in pairs, whose ranks differ by 1, 2, ..., p-1 bitwise, if p is a power of two; else by distance.
inline std::vector<BlockExchange> exchanges_by_pairs(const Problem& problem) {
  if (!std::has_single_bit(static_cast<unsigned>(problem.size))) return exchanges_by_distance(problem);
  std::vector<BlockExchange> exchanges;
  for (int difference = 1; difference < problem.size; ++difference)
    exchanges.push_back({problem.rank.value() ^ difference, problem.rank.value() ^ difference});
  return exchanges;
}

/// Ranks on a torus: a rank is the number whose digits are its coordinates, the first the lowest. A distance is such a
/// number, too: coordinates are added to it modulo the sides of the torus. One side: the ranks in a circle.
class Torus {
 public:
  explicit Torus(std::vector<int> sides) : sides_(std::move(sides)) {}
  [[nodiscard]] int ahead(int rank, int distance) const { return moved(rank, distance, 1); }
  [[nodiscard]] int behind(int rank, int distance) const { return moved(rank, distance, -1); }

 private:
  [[nodiscard]] int moved(int rank, int distance, int direction) const {
    int at = 0, place = 1;
    for (const int side : sides_) {
      at += ((rank / place + direction * (distance / place)) % side + side) % side * place;
      place *= side;
    }
    return at;
  }
  std::vector<int> sides_;
};

/// The radix of each digit of a distance, the lowest first, and the torus on which distances are measured.
struct Digits {
  std::vector<int> radices;
  Torus torus;
  static Digits of_radix(int size, int radix) {
    Digits digits{{}, Torus{{size}}};
    for (std::int64_t place = 1; place < size; place *= radix)
      digits.radices.push_back(radix);
    return digits;
  }
};

/// The messages by which blocks travel in an alltoall of Bruck's kind. The block that has to go `distance` ranks ahead
/// goes there by the digits of that number, the lowest first: by a digit d at a place it travels d times the value of
/// the place, as radix^k, together with all others that have that digit there. So a rank receives for each block that
/// it sends on, or keeps, one of the same distance.
class DigitRoutes {
 public:
  /// A block on one message.
  struct Hop {
    int distance;  ///< From the block's sender to its receiver.
    int number;    ///< The number of this hop among the block's, from 0.
    bool last;
  };
  struct Round {
    Rank to, from;
    std::vector<Hop> hops;
  };
  DigitRoutes(Rank rank, int size, int radix) : DigitRoutes(rank, size, Digits::of_radix(size, radix)) {}
  DigitRoutes(Rank rank, int size, Digits digits)
      : rank_(rank.value()), size_(size), torus_(std::move(digits.torus)), hops_of_(static_cast<std::size_t>(size)) {
    std::int64_t place = 1;
    for (const int radix : digits.radices) {
      for (std::int64_t digit = 1; digit < radix && digit * place < size; ++digit)
        add_round(place, digit, radix);
      place *= radix;
    }
  }
  [[nodiscard]] const std::vector<Round>& rounds() const { return rounds_; }
  /// Hops of all blocks: the number of blocks that a rank sends, and also that it receives.
  [[nodiscard]] int hops() const { return hops_; }
  /// The sender of the block that arrives here from that distance, and the receiver of the one that starts here.
  [[nodiscard]] int origin(int distance) const { return torus_.behind(rank_, distance); }
  [[nodiscard]] int destination(int distance) const { return torus_.ahead(rank_, distance); }
  /// The number of blocks that travel by so many hops or more.
  [[nodiscard]] int with_hops(int least) const {
    return static_cast<int>(std::ranges::count_if(hops_of_, [&](int hops) { return hops >= least; }));
  }
  /// The longest chain of messages, each of which carries a block of the one before.
  [[nodiscard]] int longest_chain() const {
    std::vector<int> chains(hops_of_.size());  // by distance, the chain that brings the block to where it is
    int longest = 0;
    for (const Round& round : rounds_) {
      int chain = 0;
      for (const Hop& hop : round.hops)
        chain = std::max(chain, chains[static_cast<std::size_t>(hop.distance)]);
      for (const Hop& hop : round.hops)
        chains[static_cast<std::size_t>(hop.distance)] = chain + 1;
      longest = std::max(longest, chain + 1);
    }
    return longest;
  }

 private:
  void add_round(std::int64_t place, std::int64_t digit, int radix) {
    const int size = size_, ahead = static_cast<int>(digit * place);
    Round round{Rank{destination(ahead)}, Rank{origin(ahead)}, {}};
    for (std::int64_t run = digit * place; run < size; run += place * radix)
      for (std::int64_t distance = run; distance < std::min<std::int64_t>(size, run + place); ++distance)
        round.hops.push_back(
            {static_cast<int>(distance), hops_of_[static_cast<std::size_t>(distance)]++, distance < place * radix});
    hops_ += static_cast<int>(round.hops.size());
    rounds_.push_back(std::move(round));
  }
  int rank_, size_;
  Torus torus_;
  std::vector<int> hops_of_;  ///< By distance, so far.
  std::vector<Round> rounds_;
  int hops_ = 0;
};

/// Figures of the routes that DigitRoutes lists, computed without the lists.
class DigitFigures {
 public:
  DigitFigures(int size, int radix) : size_(size), radix_(radix) {}
  /// Messages of a rank: distances below `reach` with one digit that is not zero.
  [[nodiscard]] int messages() const { return messages_below(size_); }
  /// The longest chain: one message a place, but one less if no block has digits at both of the highest two places.
  [[nodiscard]] int rounds() const {
    std::int64_t place = 1, below = 0;
    int places = 0;
    for (; place < size_; place *= radix_, ++places)
      below = place;
    return places > 1 && size_ <= below + below / radix_ ? places - 1 : places;
  }
  /// Blocks that a rank sends: distances, each as often as it has digits that are not zero.
  [[nodiscard]] std::int64_t hops() const {
    std::int64_t hops = 0;
    for (std::int64_t place = 1; place < size_; place *= radix_)
      hops += size_ - size_ / (place * radix_) * place - std::min(size_ % (place * radix_), place);
    return hops;
  }
  /// Distances with two digits or more that are not zero, and with three or more.
  [[nodiscard]] int twice_or_more() const { return static_cast<int>(size_) - 1 - messages(); }
  [[nodiscard]] int thrice_or_more() const {
    int twice = 0;
    for (std::int64_t place = 1; place < size_; place *= radix_)
      for (std::int64_t digit = 1; digit < radix_ && digit * place < size_; ++digit)
        twice += messages_below(std::min<std::int64_t>(size_ - digit * place, place));
    return twice_or_more() - twice;
  }

 private:
  [[nodiscard]] int messages_below(std::int64_t reach) const {
    int messages = 0;
    for (std::int64_t place = 1; place < reach; place *= radix_)
      messages += static_cast<int>(std::min<std::int64_t>(radix_ - 1, (reach - 1) / place));
    return messages;
  }
  std::int64_t size_;
  int radix_;
};

}  // namespace tutti
