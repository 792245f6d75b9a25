#pragma once
// Swing as a phase of algorithms.

#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Combines `input` of all ranks into `into`, which may be the same, or has the same place in another buffer. Returns
/// the place of the result: `input` if a rank is alone. Scratch about half of the elements; all, for a rank that stands
/// for a pair.
Region append_swing(ScheduleBuilder& plan, const Folding& fold, const Region& input, const Region& into);

/// The load of the busiest rank, for `n` elements.
[[nodiscard]] Cost cost_of_swing(int size, Count n);

}  // namespace tutti
