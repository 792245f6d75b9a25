#pragma once
// Schedules become plans: how they are compiled, and the parts of that which put steps in order.

#include <vector>

#include "lib/core/plan/compiled_plan.hpp"
#include "lib/core/plan/pair_order.hpp"

namespace tutti {

/// Compiles the schedule of a choice for this problem: cut into segments as the choice says (in bytes), and with
/// receives and reductions joined. O(steps and dependencies), more to find `in_order`.
[[nodiscard]] CompiledPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op,
                                   const Routing& routing);
/// The elements of a segment of that choice; 0: whole messages.
[[nodiscard]] Count segment_of(const Choice& choice, Type type);
/// Compiles a schedule that was built elsewhere, as it is.
[[nodiscard]] CompiledPlan compile(const Schedule& schedule, const Problem& problem, Type type, const Op& op,
                                   const Routing& routing);

/// For an operation that has to have all operands of an element at once (exact_sum, or one that adds in a wider type):
/// each result is combined in one
/// step, from the operands that this rank has received or begun with. The steps that combined a part of them become
/// copies of nothing. std::logic_error if an operand is written over too early: an algorithm that gathers them
/// (Algorithm::gathers) leaves them alone.
void combine_at_once(CompiledPlan& plan, Dependencies& after);
/// Whether plans of an operation are compiled so. Two operands are always combined at once.
[[nodiscard]] bool combines_at_once(const Op& op, const Problem& problem);

/// Whether everything that step i waits for has completed whenever step i + 1 may start, for all i.
[[nodiscard]] bool starts_in_order(const Dependencies& after);

/// Puts sends before other steps that they need not wait for, so that a rank that does one step after the other keeps
/// nobody waiting for them. Sends keep their order, and so do the others. Steps must wait for none after them.
void put_sends_first(std::vector<CompiledStep>& steps, Dependencies& after);

/// Puts receives that wait for nothing before copies that they follow: a message can be on its way while this rank
/// copies.
void put_receives_before_copies(std::vector<CompiledStep>& steps, Dependencies& after);

}  // namespace tutti
