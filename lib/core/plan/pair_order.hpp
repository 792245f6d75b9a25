#pragma once
// The order of the messages of a pair, and the dependencies between the steps of a plan while it is compiled.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/core/plan/compiled_plan.hpp"

namespace tutti {

/// Per step: the steps that it waits for.
using Dependencies = std::vector<std::vector<int>>;
/// Per step: the steps that wait for it, in order.
[[nodiscard]] Dependencies dependents_of(const Dependencies& after);
/// Per step of a compiled plan: the steps that it waits for, in order.
[[nodiscard]] Dependencies dependencies_of(const CompiledPlan& plan);
/// Makes them the plan's: its counters of waits, and its lists of dependents.
void set_dependencies(CompiledPlan& plan, const Dependencies& after);

/// In place the input is part of the output.
[[nodiscard]] inline Place place_of(const CompiledPlan& plan, Buffer buffer, std::int64_t at) {
  const auto offset = plan.problem.aliasing.offset();
  if (buffer != Buffer::input || !offset) return {buffer, at};
  return {Buffer::output, at + offset->value() * plan.element};
}

/// The steps of one pair's messages in one direction, in order of their numbers.
using Messages = std::map<std::pair<int, bool>, std::vector<int>>;  // by peer, and whether it receives
[[nodiscard]] Messages by_pair(const std::vector<CompiledStep>& steps);

/// Gives each message its transport, and the messages before and after it on its pair and direction.
void assign_transports(CompiledPlan& plan, const Messages& pairs, const Routing& routing);

/// Lets no more than a window of messages of each pair and direction be under way, but through shared memory, which
/// takes them one after the other. Adds near-linearly many dependencies.
void limit_messages(const CompiledPlan& plan, const Messages& pairs, int window, Dependencies& after);

}  // namespace tutti
