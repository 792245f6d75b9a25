#pragma once
// How a plan's messages travel through shared memory: found once, when it is compiled.

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "lib/plan/compiled_plan.hpp"

namespace tutti {

/// Per step: the steps that it waits for.
using Dependencies = std::vector<std::vector<int>>;
/// Per step: the steps that wait for it, in order.
[[nodiscard]] Dependencies dependents_of(const Dependencies& after);

/// Where bytes of a plan's buffers are: in place the input is part of the output.
using Place = std::pair<Buffer, std::int64_t>;
[[nodiscard]] inline Place place_of(const CompiledPlan& plan, Buffer buffer, std::int64_t at) {
  const auto offset = plan.problem.aliasing.offset();
  if (buffer != Buffer::input || !offset) return {buffer, at};
  return {Buffer::output, at + offset->value() * plan.element};
}

/// The steps of one pair's messages in one direction, in order of their numbers.
using Messages = std::map<std::pair<int, bool>, std::vector<int>>;  // by peer, and whether it sends

[[nodiscard]] Messages by_pair(const std::vector<CompiledStep>& steps);

/// Decides how messages travel, from what both ends of a pair know alike: how many there are, of which sizes.
void choose_paths(CompiledPlan& plan, const Messages& pairs, Path far, const SharedMemory& memory);

/// Finds the sends of the same data that are worth to share a copy: of the same region, which no step writes between
/// them.
void find_send_groups(CompiledPlan& plan, const SharedMemory& memory);

/// Finds what may be written in place before it is sent: the results of receive-and-reduce steps that go back to where
/// the data came from, and those places for them that are free once the data have been read.
void find_answers(CompiledPlan& plan, const Messages& pairs, const Dependencies& after);

/// Finds reductions worth to be joined, of three operands or more, two of them messages through shared memory at least,
/// that can be made in one pass: each but the first continues the one before, waits for nothing else but its message,
/// whose receive waits for nothing, and alone reads what the one before wrote.
void find_joint_reductions(CompiledPlan& plan, const Dependencies& after, const SharedMemory& memory);

}  // namespace tutti
