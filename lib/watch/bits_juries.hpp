#pragma once
// The verdicts over the ranks of a job: where its bits began to differ from those of an earlier run.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/transport/mpi/handles.hpp"
#include "lib/watch/bits/comparison.hpp"

namespace tutti::detail {

/// What a rank has found when its program ends.
struct RankFindings {
  const bits::Comparison& comparison;
  const std::string& folder;  ///< Of the record.
  std::uint64_t missed = 0;   ///< Calls of the record that nobody made.
  bool is_damaged = false;    ///< The comparison ended before the program, as the record cannot be read further.
};

/// The first call on a communicator in which a rank differs, as it tells it.
struct ToldDifference {
  std::uint64_t communicator = 0, number = 0;
  std::int32_t rank = 0, size = 0;
  std::uint8_t are_messages = 0, what = 0, results_too = 0;
  std::array<char, 256> where{};
};

/// A jury is the ranks of a communicator. When the program ends, its first rank hears what all others have found, and
/// tells the verdict. These are the juries of this process, each larger than those before.
class BitsJuries {
 public:
  /// Collective over `comm`, whose ranks become a jury if it is larger, for each of them, than all before.
  void add(MPI_Comm comm);
  /// MPI_Finalize has begun, MPI still works. The juries end.
  void tell(const RankFindings& findings);

 private:
  void tell_jury(const mpi::UniqueComm& jury, bool has_larger, const RankFindings& findings);

  std::vector<mpi::UniqueComm> juries_;
  std::vector<std::vector<ToldDifference>> unsent_;  ///< MPI may still read them.
};

}  // namespace tutti::detail
