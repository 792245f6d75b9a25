#pragma once
// The clocks of several machines, compared by messages between their ranks.

#include <mpi.h>

#include <cstdint>

#include "lib/core/transport/mpi/handles.hpp"

namespace tutti::detail {

/// A clock, in nanoseconds. Ranks of a node have the same.
using Clock = std::int64_t (*)();

/// The difference between this rank's clock and another's, as a trace records it (lib/watch/trace/format.hpp).
struct ClockOffset {
  std::int32_t reference = -1;  ///< The rank of MPI_COMM_WORLD whose clock is taken; -1: none was compared yet.
  std::int32_t leader = -1;     ///< The rank that compared, on this rank's node.
  std::int64_t at = 0, offset = 0, round_trip = 0;
};

/// The ranks of a communicator, for comparing their clocks at its start and at its end.
class ClockComparison {
 public:
  /// Collective over `comm`. `node`: a communicator of the ranks of `comm` that have this rank's clock, which are in
  /// the order of `comm`. `me`: this rank in MPI_COMM_WORLD.
  ClockComparison(MPI_Comm comm, mpi::UniqueComm node, int me, Clock clock);

  /// The offset to the clock that the first rank's `known` offset refers to, which is its own if there is none.
  /// Collective over `comm`. Of several round trips between the first rank and one of each other node, the shortest
  /// counts.
  [[nodiscard]] ClockOffset compare(const ClockOffset& known);
  /// The offset once more, on one rank of each node; nothing elsewhere (reference -1), nor if a rank does not answer
  /// within `patience` nanoseconds.
  [[nodiscard]] ClockOffset compare_again(const ClockOffset& known, std::int64_t patience);

 private:
  [[nodiscard]] ClockOffset compare_leaders(const ClockOffset& known, std::int64_t patience);

  mpi::UniqueComm node_, leaders_;  ///< The latter: of the lowest rank of each node; null on others.
  int me_;
  Clock clock_;
};

}  // namespace tutti::detail
