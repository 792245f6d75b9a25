#pragma once
// Ranges of ranks that are halved: each rank of a half has a partner in the other one.

#include <algorithm>
#include <vector>

#include "block_rounds_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

/// The rank's range of all ranks, which is halved until it holds one rank. Ranks at the same place of both halves are
/// partners. If the upper half has one rank more, its last one has no partner: it deals with the last of the lower one.
class HalvedRange {
 public:
  HalvedRange(Rank rank, int size) : rank_(rank.value()), last_(size) {}
  [[nodiscard]] bool divides() const { return last_ - first_ > 1; }
  /// Goes on in the half of this rank.
  void halve() { (rank_ < middle() ? last_ : first_) = middle(); }
  /// The rank in the other half that this rank's blocks come from in a reduce-scatter, and go to in an allgather.
  [[nodiscard]] Rank partner() const {
    if (rank_ < middle()) return Rank{rank_ + middle() - first_};
    return Rank{std::min(rank_ - (middle() - first_), middle() - 1)};
  }
  /// The ranks whose partner this rank is: two, one, or none.
  [[nodiscard]] std::vector<Rank> partner_of() const {
    if (rank_ >= middle()) {
      const int other = rank_ - (middle() - first_);
      return other < middle() ? std::vector{Rank{other}} : std::vector<Rank>{};
    }
    std::vector<Rank> ranks{partner()};
    if (rank_ == middle() - 1 && ranks.front().value() + 1 < last_) ranks.emplace_back(last_ - 1);
    return ranks;
  }

 private:
  [[nodiscard]] int middle() const { return first_ + (last_ - first_) / 2; }
  int rank_, first_ = 0, last_;
};

/// The blocks that a rank works on after a reduce-scatter has summed them over the ranks of its range that is left by
/// `halvings` halvings. Backwards, those that it has after as many rounds of an allgather.
inline std::vector<int> held_after(int halvings, Rank rank, int size) {
  std::vector<int> held{rank.value()};
  HalvedRange range{rank, size};
  for (int done = 0; done < halvings; ++done, range.halve())
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
  for (int done = 0; range.divides(); ++done, range.halve()) {
    BlockRound round{{}, held_after(done, rank, size), {range.partner()}};
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
      rounds_.push_back({std::vector<int>(index(size), nobody), held});
      for (std::size_t rank = 0; rank < ranges.size(); ++rank) {
        if (!ranges[rank].divides()) continue;
        const int partner = ranges[rank].partner().value();
        rounds_.back().partner[rank] = partner;
        held[index(partner)] += rounds_.back().held[rank];
        ranges[rank].halve();
      }
    }
  }
  [[nodiscard]] Cost of_allgather() const {
    std::vector<int> messages(index(size_)), sent(index(size_)), chain(index(size_));
    for (const Round& round : rounds_) {
      const std::vector<int> before = chain;
      for (std::size_t rank = 0; rank < chain.size(); ++rank) {
        if (round.partner[rank] == nobody) continue;
        ++messages[rank];
        sent[rank] += round.held[rank];
        int& longest = chain[index(round.partner[rank])];
        longest = std::max(longest, before[rank] + 1);
      }
    }
    return {.messages = most(messages), .rounds = most(chain), .sent = most(sent) * block_, .copied = block_};
  }
  [[nodiscard]] Cost of_reduce_scatter() const {
    std::vector<int> messages(index(size_)), reduced(index(size_)), chain(index(size_)), room[2];
    room[0] = room[1] = chain;
    for (auto round = rounds_.rbegin(); round != rounds_.rend(); ++round) {
      const std::vector<int> before = chain;
      for (std::size_t rank = 0; rank < chain.size(); ++rank) {
        if (round->partner[rank] == nobody) continue;
        const std::size_t partner = index(round->partner[rank]);
        ++messages[partner];
        reduced[rank] += round->held[rank];
        chain[rank] = std::max(chain[rank], before[partner] + 1);
        int& area = room[0][rank] == 0 ? room[0][rank] : room[1][rank];
        area = std::max(area, round->held[rank]);
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
  static constexpr int nobody = -1;
  struct Round {
    std::vector<int> partner, held;  ///< By rank.
  };
  static std::size_t index(int place) { return static_cast<std::size_t>(place); }
  static int most(const std::vector<int>& figures) { return *std::ranges::max_element(figures); }
  int size_;
  Count block_;
  std::vector<Round> rounds_;  ///< Of the allgather.
};

}  // namespace tutti
