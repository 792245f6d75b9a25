#pragma once
// Schedules backwards: a gather is a scatter whose messages go the other way, so each such pair is written once.

#include "tutti/algorithm.hpp"
#include "tutti/export.hpp"

namespace tutti {

/// The schedule backwards, for the same rank: the last step comes first, a send becomes a receive and a receive a send,
/// a copy goes the other way, and the input becomes the output. If step b waited for step a, a now waits for b, so the
/// schedules of all ranks have the same messages and rounds as before. The messages of a pair are numbered anew, the
/// last first.
///
/// Each element may be read by one step only: two steps that read it would write it backwards, which the proof refuses.
/// Errors: std::logic_error if a step reduces. Cost: O(log p) per step, O(1) per dependency.
[[nodiscard]] TUTTI_API Schedule reversed(const Schedule& schedule);

/// A schedule for the problem from an algorithm that does the opposite, as scatter does of gather: its schedule for the
/// problem with input and output exchanged, backwards.
[[nodiscard]] TUTTI_API Schedule reversed(const Algorithm& opposite, Problem problem);

}  // namespace tutti
