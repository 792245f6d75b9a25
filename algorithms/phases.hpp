#pragma once
// Phases that several algorithms are composed of. Each appends its steps to a plan.

#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Each rank ends with one block of `into` that holds the sum of that block of every rank's `from`: block
/// ring.behind(-1). Sends n(p-1)/p elements in p-1 messages; `from` and `into` have the same blocks and may be the
/// same.
void append_ring_reduce_scatter(ScheduleBuilder& plan, const Ring& ring, const Blocks& from, const Blocks& into);

/// Each rank starts with block ring.behind(-1) and ends with all. Sends n(p-1)/p elements in p-1 messages.
void append_ring_allgather(ScheduleBuilder& plan, const Ring& ring, const Blocks& blocks);

}  // namespace tutti
