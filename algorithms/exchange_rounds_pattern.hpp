#pragma once
// Recursive exchange: groups of k ranks divide blocks among themselves.

#include <numeric>
#include <utility>
#include <vector>

#include "block_rounds_pattern.hpp"
#include "multiplying_pattern.hpp"

namespace tutti {

/// The rounds of a reduce-scatter: the k ranks that differ in digit i of their position, from the lowest on, divide the
/// blocks by that digit, each pair of them at once. So partial sums are those of consecutive ranks. Cost: O(p) for p
/// ranks.
inline std::vector<BlockRound> exchange_rounds(Rank rank, int size, int radix) {
  const Multiplying fold{rank, size, radix};
  const PairedPositions pairs{size, fold.core()};
  if (fold.sits_out()) return pairs.with_pairs(rank, {});
  std::vector<BlockRound> rounds;
  int distance = 1;
  for (const std::vector<Group> groups = fold.groups(); const Group& group : groups) {
    distance *= group.size();
    const auto blocks_of = [&](Rank member) {  // of the positions that have the same lowest digits
      std::vector<int> positions;
      for (int position = pairs.position(member) % distance; position < pairs.core(); position += distance)
        positions.push_back(position);
      return pairs.blocks(positions);
    };
    BlockRound round{{}, blocks_of(rank), {}};
    const Ring ring{Rank{group.me}, group.size()};
    for (int step = 1; step < group.size(); ++step) {
      const Rank to = group.at(ring.behind(-step));
      round.given.push_back({to, blocks_of(to)});
      round.from.push_back(group.at(ring.behind(step)));
    }
    rounds.push_back(std::move(round));
  }
  return pairs.with_pairs(rank, std::move(rounds));
}

/// The load of the busiest ranks in those rounds: that of position 0, which stands for a pair if any does.
class ExchangeFigures {
 public:
  ExchangeFigures(int size, int radix) : fold_(Rank{0}, size, radix), pairs_(size, fold_.core()) {
    const int extra = size - pairs_.core();
    int distance = 1;
    for (const int radix_of_round : fold_.radices()) {
      distance *= radix_of_round;
      const int kept = pairs_.core() / distance + (extra + distance - 1) / distance;
      arriving_.push_back((radix_of_round - 1) * kept);
    }
  }
  [[nodiscard]] bool even() const { return pairs_.even(); }
  [[nodiscard]] int messages() const { return fold_.messages(); }
  [[nodiscard]] int longest_chain() const { return fold_.longest_chain(); }
  /// Blocks that arrive from the groups of all rounds. Backwards, those sent to them.
  [[nodiscard]] int arriving() const { return std::accumulate(arriving_.begin(), arriving_.end(), 0); }
  /// Those of the first round, and of the second, or of the pair before the first.
  [[nodiscard]] int scratch() const {
    const int second = arriving_.size() > 1 ? arriving_[1] : 0;
    return arriving_[0] + (even() ? second : pairs_.size());
  }

 private:
  Multiplying fold_;
  PairedPositions pairs_;
  std::vector<int> arriving_;
};

}  // namespace tutti
