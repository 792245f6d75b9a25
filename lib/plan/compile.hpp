#pragma once
// Schedules become plans.

#include "lib/plan/compiled_plan.hpp"

namespace tutti {

/// Compiles the schedule of a choice for this problem: cut into segments as the choice says (in bytes), and with
/// receives and reductions joined. O(steps and dependencies), more to find `in_order`.
[[nodiscard]] CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op,
                                   const Routing& routing);
/// The same for a schedule that was built elsewhere, as it is.
[[nodiscard]] CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op,
                                   const Routing& routing);

}  // namespace tutti
