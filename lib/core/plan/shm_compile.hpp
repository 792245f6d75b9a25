#pragma once
// Plans with the additions of shared memory: how they are compiled, and the parts of that in the order in which they
// run.

#include "lib/core/plan/pair_order.hpp"
#include "lib/core/plan/shared_plan.hpp"

namespace tutti::shm {

/// Compiles a plan, as lib/core/plan does, and decides how its messages travel through shared memory, from facts that
/// both ends of a pair know alike. `routing` says how the other messages travel.
[[nodiscard]] SharedPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op, Routing routing,
                                 const SharedMemory& memory);
[[nodiscard]] SharedPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op,
                                 Routing routing, const SharedMemory& memory);

/// Finds the sends of the same data that are worth to share a copy: of the same region, which no step writes between
/// them.
void find_send_groups(SharedPlan& plan, const SharedMemory& memory);

/// Finds results of receive-and-reduce steps that a later step sends on (SideStep::forward). Finds for sends of other
/// data a place of a later message from the same peer that is free once the data have been read, so that the peer may
/// write its result there (SideStep::answer).
void find_answers(SharedPlan& plan, const Messages& pairs, const Dependencies& after);

/// Finds chains of reductions that are worth one joint pass: of three operands or more, at least two of them messages
/// through shared memory. Each reduction but the first continues the one before, waits for nothing else but its
/// message, whose receive waits for nothing, and is the only reader of the result of the one before.
void find_joint_reductions(SharedPlan& plan, const Dependencies& after, const SharedMemory& memory);

}  // namespace tutti::shm
