#pragma once
// Phases along trees.

#include "tree_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Hands `from` of the root down to `into` of all others: n elements to each child.
void append_tree_broadcast(ScheduleBuilder& plan, const TreePlace& place, const Region& from, const Region& into);

/// Combines `mine` of all ranks up the tree, in the order that it keeps. Says where this rank's part of the result
/// lies, of the root all of it: in `mine` if it has no children, else in `sum`. `theirs` is room for what children
/// send; of ranks without children it and `sum` are unused.
Region append_tree_reduce(ScheduleBuilder& plan, const TreePlace& place, const Region& mine, const Region& sum,
                          const Region& theirs);

}  // namespace tutti
