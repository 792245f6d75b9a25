#pragma once
// No two steps of a rank touch the same element at the same time, unless both only read it.

#include <cstdint>
#include <vector>

#include "rank_schedules.hpp"

namespace tutti::checker {

/// Which steps of one rank complete before which others start, by the steps that they wait for.
class LocalOrder {
 public:
  explicit LocalOrder(const Schedule& schedule) : schedule_(schedule) {}
  /// Whether `earlier` has completed whenever `later` starts. O(log) if `later` waits for it directly. Of schedules of
  /// up to `most_closed` steps the first other question computes the transitive closure, s^2 / 64 words for each of the
  /// edges of a step; in longer ones each walks back from `later`, over steps that come after `earlier`.
  [[nodiscard]] bool ordered(int earlier, int later);

 private:
  static constexpr std::size_t most_closed = 4096;
  void close();
  [[nodiscard]] bool leads_back(int later, int earlier);
  const Schedule& schedule_;
  std::size_t words_ = 0;                 ///< Per step.
  std::vector<std::uint64_t> preceding_;  ///< A row of bits per step: all steps that complete before it starts.
  std::vector<int> rest_;                 ///< The steps that the walk has still to look at.
  std::vector<int> seen_;                 ///< By step: the number of the last walk that came by.
  int walks_ = 0;
};

/// Refutes a schedule with two accesses to the same element, at least one of them a write, whose steps are not ordered.
/// A message received twice into the same elements counts as well. A send reads from its start to its completion; a
/// receive, a reduction and a copy own the regions that they write for that time.
///
/// Only the order that the rank itself keeps counts. Paths through other ranks would be sound too, where they lead from
/// a completion to a start, but then a rank's memory would be safe only as long as all others keep their order; and a
/// send whose peer has answered need not have completed: with MPI its buffer is free after its own wait.
void require_no_races(Rank rank, const RankSchedule& own);

}  // namespace tutti::checker
