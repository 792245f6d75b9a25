#pragma once
// The proof that compiled plans are right, with all that shared memory adds to them.

#include <string>

#include "lib/proof/plan_checker/plans.hpp"

namespace tutti::checker {

/// The steps of each kind that a proof has seen, over all ranks.
struct PlanCounts {
  int plans = 0, steps = 0;
  int staged = 0;     ///< Copies from a device to the staging buffer, or back.
  int joined = 0;     ///< Receives and reductions that are done in one pass.
  int forwarded = 0;  ///< Results that are sent in the pass that makes them.
  int shared = 0;     ///< Sends of a copy that others read, too.
  int lent = 0;       ///< Sends that may be read where the sender has them.
  int answered = 0;   ///< Sends that say where the answer belongs.
  int delivered = 0;  ///< Answers that may be written there.
  PlanCounts& operator+=(const PlanCounts& other);
};

/// Proved if there is no fault.
struct PlanVerdict {
  std::string fault{};
  PlanCounts counts{};
  [[nodiscard]] bool proved() const { return fault.empty(); }
};

/// Proves the compiled plans of all ranks:
/// - as schedules, in which nothing is shared, and data of devices are copied from them and back, by the same proof as
///   those (lib/proof/checker/prove.hpp);
/// - starting steps strictly in order, where a plan claims that, delays none;
/// - a send that forwards a result waits for it;
/// - both ends of a message send it the same way;
/// - no race of the accesses that shared memory adds to those of steps (shared_accesses.hpp);
/// - one run with all that shared memory may do gives the results of the run without it: the same expression in every
///   message and every element of the output (shared_run.hpp). Places that may be written or not hold garbage in it, so
///   that the run stands for those in which only a part is done, too.
/// Near-linear in steps and elements, but for joint reductions and answers, each of which looks at all steps of its
/// rank.
[[nodiscard]] PlanVerdict prove(const Plans& plans);

}  // namespace tutti::checker
