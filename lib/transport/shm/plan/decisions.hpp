#pragma once
// The parts of shm::compile(), in the order in which they run.

#include "lib/plan/pair_order.hpp"
#include "lib/transport/shm/plan/shared_plan.hpp"

namespace tutti::shm {

/// Finds the sends of the same data that are worth to share a copy: of the same region, which no step writes between
/// them.
void find_send_groups(SharedPlan& plan, const SharedMemory& memory);

/// Finds what may be written in place before it is sent: the results of receive-and-reduce steps that go back to where
/// the data came from, and those places for them that are free once the data have been read.
void find_answers(SharedPlan& plan, const Messages& pairs, const Dependencies& after);

/// Finds reductions worth to be joined, of three operands or more, two of them messages through shared memory at least,
/// that can be made in one pass: each but the first continues the one before, waits for nothing else but its message,
/// whose receive waits for nothing, and alone reads what the one before wrote.
void find_joint_reductions(SharedPlan& plan, const Dependencies& after, const SharedMemory& memory);

}  // namespace tutti::shm
