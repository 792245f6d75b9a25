#pragma once
// What the scans share.

#include <bit>

#include "nodes_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Where an exclusive scan gathers its result: in the output, unless that is the input, which is needed to the last.
/// Copy it to the output at the end.
inline Region exclusive_result(ScheduleBuilder& plan, const Problem& problem) {
  return problem.aliasing.offset() ? plan.scratch(problem.count) : plan.output();
}

/// The inclusive scan by doubling, in `into`, which may be the input; says where it lies: of the first rank in the
/// input.
Region append_doubling_scan(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& into);
/// The exclusive scan along distances 1, 2, 3, 6, 12, ..., in `before`, which the first rank leaves alone.
void append_exscan_123(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& before);
/// The same along a chain.
void append_linear_exscan(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& before);

/// The exclusive scan of what the last ranks of rows have, `total`, handed to their rows: `carry` of every rank but
/// those of row 0. Along a chain if there are at most `chain` rows, else along distances 1, 2, 3, 6, ...
void append_carry(ScheduleBuilder& plan, const Nodes& rows, const Region& total, const Region& carry, int chain);
/// What of that a rank sends and reduces at most, and the rounds.
[[nodiscard]] Cost carry_bounds(const Nodes& rows, Count count, int chain);

/// How many of the distances 1, 2, 4, ... are below `reach`.
inline int doublings_below(int reach) {
  return reach <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(reach - 1)));
}

/// How many messages at distances 1, 2, 4, ... can follow one another from the first of `size` ranks on.
inline int doublings_within(int size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1; }

}  // namespace tutti
