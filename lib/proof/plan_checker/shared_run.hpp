#pragma once
// Compiled plans run on symbolic values, with all that shared memory may do, beside the same plans without it.

#include "lib/proof/checker/graph.hpp"
#include "lib/proof/plan_checker/plans.hpp"

namespace tutti::checker {

/// Runs the plans twice: as schedules, and so that
/// - joint reductions are made in one pass, from their lists of operands; the places that their steps would write on
///   the way hold garbage, as they may be written or not;
/// - results are forwarded: sent as they are made;
/// - the sends of a group send the data that the first of them found;
/// - answers are written where the offer says when they are made; their receives write nothing.
/// Refutes plans of which a message or an element of the output is another expression in the second run. Returns how
/// many answers were written so. The plans must be proved as schedules.
int require_same_when_shared(const Plans& plans, const RankSchedules& schedules, const Graph& graph);

}  // namespace tutti::checker
