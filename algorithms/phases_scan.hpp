#pragma once
// What the scans share.

#include <bit>

#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Where an exclusive scan gathers its result: in the output, unless that is the input, which is needed to the last.
/// Copy it to the output at the end.
inline Region exclusive_result(ScheduleBuilder& plan, const Problem& problem) {
  return problem.aliasing.offset() ? plan.scratch(problem.count) : plan.output();
}

/// How many of the distances 1, 2, 4, ... are below `reach`.
inline int doublings_below(int reach) {
  return reach <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(reach - 1)));
}

/// How many messages at distances 1, 2, 4, ... can follow one another from the first of `size` ranks on.
inline int doublings_within(int size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1; }

}  // namespace tutti
