#pragma once
// Phases along trees.

#include "tree_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Hands `from` of the root down to `into` of all others: n elements to each child.
void append_tree_broadcast(ScheduleBuilder& plan, const TreePlace& place, const Region& from, const Region& into);

/// Combines `mine` of all ranks up the tree, in the order that it keeps. Returns the place of this rank's part of the
/// result, which on the root is all of it: `mine` if it has no children, else `sum`. `theirs` is room for the
/// children's messages; on ranks without children it and `sum` are unused.
Region append_tree_reduce(ScheduleBuilder& plan, const TreePlace& place, const Region& mine, const Region& sum,
                          const Region& theirs);

}  // namespace tutti
