#pragma once
// The common parts of the scans.

#include <algorithm>
#include <bit>
#include <functional>

#include "nodes_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// The place where an exclusive scan gathers its result: the output, unless that is the input, which is needed to the
/// last. The caller copies the result to the output at the end.
inline Region exclusive_result(ScheduleBuilder& plan, const Problem& problem) {
  return problem.aliasing.offset() ? plan.scratch(problem.count) : plan.output();
}

/// The scan by operands that travel to the owners of their blocks: the rank of block r sends this rank's result there
/// to `into[r]`, no elements on rank 0. `later`: 0, or 1 for the exclusive scan.
void append_exchanged_scan(ScheduleBuilder& plan, const Problem& problem, const Regions& into, int later);

/// The inclusive scan by doubling, in `into`, which may be the input. Returns the place of the result: on the first
/// rank the input.
Region append_doubling_scan(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& into);
/// The exclusive scan along distances 1, 2, 3, 6, 12, ..., in `before`, which the first rank leaves alone.
void append_exscan_123(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& before);
/// The exclusive scan along a chain.
void append_linear_exscan(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& before);

/// The exclusive scan of the `total` of each row's last rank, which hands its result to its row: `carry` on every rank
/// but those of row 0. Along a chain if there are at most `chain` rows, else along distances 1, 2, 3, 6, ...
void append_carry(ScheduleBuilder& plan, const Nodes& rows, const Region& total, const Region& carry, int chain);

/// The load of one rank in scans whose messages all have as many elements: how many it sends, reduces, and has scratch
/// for.
struct RowLoad {
  int messages = 0, reductions = 0, scratch = 0;
  RowLoad& operator+=(const RowLoad& more) {
    messages += more.messages, reductions += more.reductions, scratch += more.scratch;
    return *this;
  }
};
[[nodiscard]] RowLoad doubling_scan_load(int place, int size);
[[nodiscard]] RowLoad exscan_123_load(int place, int size);
/// The longest chain of messages at distances 1, 2, 3, 6, ..., which spans 1, 3, 6, 12, ...
[[nodiscard]] int exscan_123_rounds(int size);

/// The load of a rank besides the carry, by its row and its place there.
using LoadInRow = std::function<RowLoad(int row, int place)>;
/// The cost of a scan with a carry, without copies, if scans inside rows take `rounds` rounds. Exact except for the
/// rounds, which are a bound where rows are not of one length. Cost: O(p log p).
[[nodiscard]] Cost cost_over_rows(const Problem& problem, const Nodes& rows, int rounds, const LoadInRow& inside);

/// How many of the distances 1, 2, 4, ... are below `reach`.
inline int doublings_below(int reach) {
  return reach <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<unsigned>(reach - 1)));
}

/// The distance after one of 1, 2, 3, 6, 12, ...
constexpr int next_distance_123(int distance) { return distance < 3 ? distance + 1 : 2 * distance; }
/// How many of the distances 3, 6, 12, ... are below `reach`.
inline int triples_below(int reach) { return doublings_below((std::max(reach, 0) + 2) / 3); }

/// How many messages at distances 1, 2, 4, ... can follow one another from the first of `size` ranks on.
inline int doublings_within(int size) { return static_cast<int>(std::bit_width(static_cast<unsigned>(size))) - 1; }

}  // namespace tutti
