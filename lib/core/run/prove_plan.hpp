#pragma once
// TUTTI_PROVE: the proof of schedules before they run.

#include "lib/core/communicator/workspace.hpp"
#include "lib/core/run/plan_key.hpp"

namespace tutti::detail {

/// Whether TUTTI_PROVE asks for the proof of such a plan.
[[nodiscard]] bool has_to_be_proved(const PlanKey& key, const Workspace& communicator);
/// Proves the schedules of all ranks for a call, in place or not, and counts it. Blocks whose sizes ranks know in part,
/// and buffers that overlap in another way than the MPI calls have it, cannot be proved. Throws Error with the fault,
/// on all ranks alike, as all prove the same. O(steps of all ranks).
void prove_plan(const PlanKey& key, Workspace& communicator);

}  // namespace tutti::detail
