#pragma once
// The figures of all ranks, on rank 0.

#include <array>
#include <cstdint>
#include <vector>

#include "apps/soak/executor.hpp"
#include "apps/soak/resources.hpp"
#include "tutti/communicator.hpp"

namespace tutti::soak {

/// Sent by one rank.
struct SentMessages {
  std::int64_t messages = 0, bytes = 0;
};

/// Of one rank. Ranks hand it over as bytes.
struct RankFigures {
  Tally tally;
  std::array<SentMessages, 3> sent{};  ///< Through shared memory, the MPI, UCX.
  std::int64_t node = 0;
  Resources first{}, last{}, largest{};
  std::int64_t samples = 0;
  std::array<History::Quarters, resource_count> quarters{};  ///< Of no meaning if there are too few samples.

  [[nodiscard]] bool has_quarters() const { return samples >= static_cast<std::int64_t>(History::least_samples); }
  /// Growth without bound.
  [[nodiscard]] bool grows(Resource resource) const {
    return has_quarters() && soak::grows(resource, quarters[static_cast<std::size_t>(resource)]);
  }
  void add(const MessageCounters& counters);
  void add(const History& history);
};
inline constexpr std::string_view sent_names[] = {"shm", "mpi", "ucx"};  ///< Of RankFigures::sent.

/// Sums of some ranks. Quarters and samples: none if one of them has none.
[[nodiscard]] RankFigures sum_of(const std::vector<RankFigures>& ranks);

/// Collective over MPI_COMM_WORLD. Empty on all ranks but the first.
[[nodiscard]] std::vector<RankFigures> gathered(const RankFigures& mine);

}  // namespace tutti::soak
