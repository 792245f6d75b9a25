#pragma once
// Swing: peers on a ring at distances 1, -1, 3, -5, 11, ... (De Sensi et al., NSDI 2024).

#include <algorithm>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti {

/// The distances of the rounds among so many positions, a power of two, the nearest first.
inline std::vector<int> swing_distances(int positions) {
  std::vector<int> distances;
  for (int distance = 1, covered = 1; covered < positions; covered *= 2) {
    distances.push_back(distance);
    distance = 1 - 2 * distance;
  }
  return distances;
}

/// The peer of a position in the round of a distance: positions of one parity swing one way, the others the other.
inline int swing_peer(int position, int positions, int distance) {
  const int step = position % 2 == 0 ? distance : -distance;
  return ((position + step) % positions + positions) % positions;
}

/// One round of Swing's reduce-scatter among the positions of a power of two. Backwards, it is one of the allgather.
struct Swinging {
  int peer;                      ///< A position.
  std::vector<int> kept, given;  ///< Blocks worked on further, and those that are the peer's; ascending.
};

/// The rounds of one position, the nearest distances first.
class Swing {
 public:
  Swing(int position, int positions) : positions_(positions), distances_(swing_distances(positions)) {
    for (std::size_t round = 0; round < distances_.size(); ++round) {
      const int peer = peer_of(position, round);
      rounds_.push_back({peer, reached(position, round + 1), reached(peer, round + 1)});
    }
  }
  [[nodiscard]] const std::vector<Swinging>& rounds() const { return rounds_; }

 private:
  [[nodiscard]] int peer_of(int position, std::size_t round) const {
    return swing_peer(position, positions_, distances_[round]);
  }
  /// The positions where data of `position` can get in the rounds from `round` on.
  [[nodiscard]] std::vector<int> reached(int position, std::size_t round) const {
    std::vector<int> found{position};
    for (; round < distances_.size(); ++round)
      for (std::size_t i = 0, known = found.size(); i < known; ++i)
        found.push_back(peer_of(found[i], round));
    std::ranges::sort(found);
    return found;
  }
  int positions_;
  std::vector<int> distances_;
  std::vector<Swinging> rounds_;
};

}  // namespace tutti
