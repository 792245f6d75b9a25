#pragma once
// The rules that each step obeys by itself, before any step is related to another.

#include "rank_schedules.hpp"

namespace tutti::checker {

/// Refutes schedules with a step that waits for itself or a later step, exchanges a message with a rank that is not
/// there, leaves a buffer, writes the input, relates regions of different counts or works on a part of its own operand.
void require_form(const RankSchedules& schedules);

}  // namespace tutti::checker
