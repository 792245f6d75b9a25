#pragma once
// The proof that schedules are right, in every order of execution and over every transport.

#include <string>
#include <vector>

#include "expectation.hpp"
#include "fault.hpp"
#include "lib/core/schedule/cost.hpp"
#include "problems.hpp"
#include "rank_schedules.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::checker {

/// Proved if there is no fault. A fault reads: "rank 3, step 7 (recv scratch[0..4) from 2): ...".
struct Verdict {
  std::string fault{};
  std::vector<Fault::Position> positions{};  ///< That the fault names, if it names any.
  std::size_t steps = 0;                     ///< The steps of all ranks.
  std::vector<Cost> costs{};                 ///< As counted, by rank; only if proved.
  [[nodiscard]] bool proved() const { return fault.empty(); }
};

/// Proves the schedules of all ranks for one problem:
/// - each step has its form: regions lie in their buffers, the input is never written (see form.hpp);
/// - every message sent is received, with the same number and size, and none besides (graph.hpp);
/// - no deadlock under eager, rendezvous or one-credit flow control (graph.hpp);
/// - no race: conflicting accesses of a rank are ordered by the rank itself (races.hpp);
/// - one run on symbolic values, in memory shared as the aliasing says and else full of garbage, uses no garbage and
///   leaves the expected results, the same expression on all ranks if that is expected (expectation.hpp);
/// - of a barrier: no rank leaves before all have entered (meeting.hpp).
/// As the other properties hold, every order of execution gives the results of that one run. Near-linear in steps plus
/// elements.
[[nodiscard]] Verdict prove(const RankSchedules& schedules, const Expectation& expectation);

/// Proves an algorithm, and that it costs the busiest rank the stated cost, or no more where that is a bound (see
/// Algorithm): of several levels, where not all nodes, or sockets, hold as many ranks.
[[nodiscard]] Verdict prove(const Algorithm& algorithm, const Case& what);

/// The cost of the schedules of all ranks, which need not be proved, for the busiest rank. Errors: Fault if messages do
/// not match, or ranks wait for each other.
[[nodiscard]] Cost counted(const RankSchedules& schedules);

}  // namespace tutti::checker
