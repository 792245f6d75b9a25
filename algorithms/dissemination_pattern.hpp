#pragma once
// The senders and receivers of the signals in a dissemination.

#include <cstdint>
#include <vector>

#include "tutti/algorithm.hpp"

namespace tutti {

/// The ranks that a rank sends to and receives from in one round.
struct DisseminationRound {
  std::vector<Rank> to, from;
};

/// The rounds of a rank: in round i, the peers are j * radix^i ranks away, 0 < j < radix. Before round i a rank has
/// heard of the radix^i ranks up to itself, so ceil(log_radix size) rounds reach all. Cost: O(radix log size).
inline std::vector<DisseminationRound> dissemination(Rank rank, int size, int radix) {
  std::vector<DisseminationRound> rounds;
  for (std::int64_t step = 1; step < size; step *= radix) {
    DisseminationRound round;
    for (std::int64_t distance = step; distance < size && distance < radix * step; distance += step) {
      round.to.emplace_back(static_cast<int>((rank.value() + distance) % size));
      round.from.emplace_back(static_cast<int>((rank.value() + size - distance) % size));
    }
    rounds.push_back(round);
  }
  return rounds;
}

inline Cost dissemination_cost(int size, int radix) {
  Cost cost;
  for (const DisseminationRound& round : dissemination(Rank{0}, size, radix)) {
    cost.messages += static_cast<int>(round.to.size());
    ++cost.rounds;
  }
  return cost;
}

}  // namespace tutti
