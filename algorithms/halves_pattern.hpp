#pragma once
// Ranges of ranks that are halved: each rank of a half has a partner in the other one.

#include <algorithm>
#include <vector>

#include "block_rounds_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

/// The rank's range of all ranks, which is halved until it holds one rank. Ranks at the same place of both halves are
/// partners. As long as they can, halves begin at multiples of a unit, the largest power of two that divides the size:
/// messages grow from halving to halving, so that what does not divide well comes first, and nodes of many ranks seldom
/// lie across the borders of short ranges. Of an odd number of units, if few, the ranks at the same place are all
/// partners of all. Else those of the last unit have no partners: they deal with another unit, which is at another
/// place of each half to come, so that no rank does so often.
class HalvedRange {
 public:
  HalvedRange(Rank rank, int size) : rank_(rank.value()), last_(size), unit_(size & -size) { refine(); }
  [[nodiscard]] bool divides() const { return units() > 1; }
  /// Goes on in the half, or the unit, of this rank.
  void divide() {
    if (is_short())
      first_ += (rank_ - first_) / unit_ * unit_, last_ = first_ + unit_;
    else
      (rank_ < middle() ? last_ : first_) = middle();
    refine();
  }
  /// The ranks that this rank's blocks come from in a reduce-scatter, and go to in an allgather.
  [[nodiscard]] std::vector<Rank> partners() const {
    if (is_short()) return all_others(1);
    if (rank_ < middle()) return {Rank{rank_ + half()}};
    return {Rank{is_odd_one() ? helper() : rank_ - half()}};
  }
  /// The ranks of which this rank is a partner: all others, two, one, or none.
  [[nodiscard]] std::vector<Rank> partner_of() const {
    if (is_short()) return all_others(-1);
    if (is_odd_one()) return {};
    if (rank_ >= middle()) return {Rank{rank_ - half()}};
    if (units() % 2 == 1 && rank_ == helper()) return {Rank{rank_ + half()}, Rank{last_ - unit_ + place()}};
    return {Rank{rank_ + half()}};
  }

 private:
  /// Once there is one unit, it is halved itself.
  void refine() {
    if (units() == 1) unit_ = 1;
  }
  [[nodiscard]] int units() const { return (last_ - first_) / unit_; }
  [[nodiscard]] int place() const { return (rank_ - first_) % unit_; }
  [[nodiscard]] bool is_short() const { return units() % 2 == 1 && units() < 8; }
  [[nodiscard]] int half() const { return units() / 2 * unit_; }
  [[nodiscard]] int middle() const { return first_ + half(); }
  [[nodiscard]] bool is_odd_one() const { return units() % 2 == 1 && rank_ >= last_ - unit_; }
  [[nodiscard]] int helper() const { return first_ + units() / 6 * unit_ + place(); }
  /// In the order of a circle, so that not all begin with the same one.
  [[nodiscard]] std::vector<Rank> all_others(int direction) const {
    std::vector<Rank> ranks;
    const int mine = (rank_ - first_) / unit_;
    for (int distance = 1; distance < units(); ++distance) {
      const int other = (mine + (direction > 0 ? distance : units() - distance)) % units();
      ranks.emplace_back(rank_ + (other - mine) * unit_);
    }
    return ranks;
  }
  int rank_, first_ = 0, last_, unit_;
};

/// The blocks that a rank works on after a reduce-scatter has summed them over the ranks of its range that is left by
/// `divisions` divisions. Backwards, those that it has after as many rounds of an allgather.
inline std::vector<int> held_after(int divisions, Rank rank, int size) {
  std::vector<int> held{rank.value()};
  HalvedRange range{rank, size};
  for (int done = 0; done < divisions; ++done, range.divide())
    for (const Rank other : range.partner_of())
      for (const int block : held_after(done, other, size))
        held.push_back(block);
  std::ranges::sort(held);
  return held;
}

/// The rounds of a reduce-scatter: the smallest ranges first. Cost: O(p log p) for p ranks.
inline std::vector<BlockRound> rounds_by_halves(Rank rank, int size) {
  std::vector<BlockRound> rounds;
  HalvedRange range{rank, size};
  for (int done = 0; range.divides(); ++done, range.divide()) {
    BlockRound round{{}, held_after(done, rank, size), range.partners()};
    for (const Rank other : range.partner_of())
      round.given.push_back({other, held_after(done, other, size)});
    rounds.push_back(std::move(round));
  }
  std::ranges::reverse(rounds);
  return rounds;
}

/// The cost of those rounds for blocks of `block` elements: the figures of the busiest ranks. Cost: O(p log p).
class CostByHalves {
 public:
  CostByHalves(int size, Count block) : size_(size), block_(block) {
    std::vector<int> held(index(size), 1);
    std::vector<HalvedRange> ranges;
    for (int rank = 0; rank < size; ++rank)
      ranges.emplace_back(Rank{rank}, size);
    while (std::ranges::any_of(ranges, &HalvedRange::divides)) {
      rounds_.push_back({std::vector<std::vector<Rank>>(index(size)), held});
      for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
        if (!ranges[rank].divides()) continue;
        for (const Rank partner : rounds_.back().partners[rank] = ranges[rank].partners())
          held[index(partner.value())] += rounds_.back().held[rank];
        ranges[rank].divide();
      }
    }
  }
  [[nodiscard]] Cost of_allgather() const {
    std::vector<int> messages(index(size_)), sent(index(size_)), chain(index(size_));
    for (const Round& round : rounds_) {
      const std::vector<int> before = chain;
      for (std::size_t rank = 0; rank < chain.size(); ++rank) {
        for (const Rank partner : round.partners[rank]) {
          ++messages[rank];
          sent[rank] += round.held[rank];
          int& longest = chain[index(partner.value())];
          longest = std::max(longest, before[rank] + 1);
        }
      }
    }
    return {.messages = most(messages), .rounds = most(chain), .sent = most(sent) * block_, .copied = block_};
  }
  [[nodiscard]] Cost of_reduce_scatter() const {
    std::vector<int> messages(index(size_)), reduced(index(size_)), chain(index(size_)), room[2];
    room[0] = room[1] = chain;
    std::size_t turn = 0;
    for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round, turn = 1 - turn) {
      const std::vector<int> before = chain;
      for (std::size_t rank = 0; rank < chain.size(); ++rank) {
        const int arriving = static_cast<int>(round->partners[rank].size()) * round->held[rank];
        reduced[rank] += arriving;
        room[turn][rank] = std::max(room[turn][rank], arriving);
        for (const Rank partner : round->partners[rank]) {
          ++messages[index(partner.value())];
          chain[rank] = std::max(chain[rank], before[index(partner.value())] + 1);
        }
      }
    }
    for (std::size_t rank = 0; rank < chain.size(); ++rank)
      room[0][rank] += room[1][rank];
    return {.messages = most(messages),
            .rounds = most(chain),
            .sent = (size_ - 1) * block_,
            .reduced = most(reduced) * block_,
            .scratch = most(room[0]) * block_};
  }

 private:
  struct Round {  ///< By rank.
    std::vector<std::vector<Rank>> partners;
    std::vector<int> held;
  };
  static std::size_t index(int place) { return static_cast<std::size_t>(place); }
  static int most(const std::vector<int>& figures) { return *std::ranges::max_element(figures); }
  int size_;
  Count block_;
  std::vector<Round> rounds_;  ///< Of the allgather.
};

}  // namespace tutti
