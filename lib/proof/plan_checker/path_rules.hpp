#pragma once
// The rules for plans that the shared-memory transport relies on, checked apart from the code that decides.

#include <string>

#include "lib/core/plan/shared_plan.hpp"

namespace tutti::checker {

/// The first rule that the plan breaks, and where; empty: it is safe. O(steps log steps), but for
/// places that are offered: each takes a look at the messages of its pair.
/// - Messages of a pair and direction go the same way, each after the one before it.
/// - Shared copies (bound): the sends of a group read the same data, which nothing writes between them, and each goes
///   to another rank, so that each reader gives a piece back once.
/// - Results that are forwarded: the send waits for nothing but their reduction, and sends just them.
/// - Joint reductions: their steps, made one by one, come to the same result. Each but the first waits only for its
///   message and the step before it. Nothing else reads the sum of that step or the message, and neither is part of the
///   output. Operands of this rank are not written before they are read.
/// - Fast-path plans: no step waits for a later one; all messages go through shared memory, in one piece each; none is
///   shared or joined, and no pair has more of them than there is room for.
/// - Places that are offered: of a receive of that size, which waits for nothing but the message that it answers.
[[nodiscard]] std::string broken_path_rule(const shm::SharedPlan& plan, const shm::SharedMemory& memory);

}  // namespace tutti::checker
