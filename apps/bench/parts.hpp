#pragma once
// The common parts of collectives.

#include "apps/bench/collective.hpp"
#include "apps/bench/ours.hpp"
#include "apps/bench/peer.hpp"

namespace tutti::bench {

/// Factors of bus bandwidth, as the NCCL tests define them: each element crosses a link once,
[[nodiscard]] inline double crosses_once(int /*ranks*/) { return 1; }
/// but for those of its own rank.
[[nodiscard]] inline double all_but_own_cross(int ranks) { return static_cast<double>(ranks - 1) / ranks; }

/// Input and output as long as the size says, in place at the same address.
[[nodiscard]] inline Layout whole_layout(const Call& call) { return {call.count, call.count, Count{0}}; }

/// The whole output is the reduction of the ranks below `end`.
[[nodiscard]] inline std::vector<Piece> all_reduced(const Call& call, int end) {
  return {{Count{0}, call.count, Values::reduced_over(end)}};
}

/// The output is every rank's input, one after the other.
[[nodiscard]] inline std::vector<Piece> all_gathered(const Call& call) {
  std::vector<Piece> pieces;
  for (int rank = 0; rank < call.ranks(); ++rank) {
    pieces.push_back({call.blocks->offset(rank), call.blocks->count(rank), Values::input_of(rank)});
  }
  return pieces;
}

}  // namespace tutti::bench
