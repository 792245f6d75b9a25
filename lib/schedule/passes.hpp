#pragma once
// Passes: schedule -> schedule. They keep the result of an algorithm and change the way to it.

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// The schedule that an algorithm builds, in segments of so many elements as Algorithm::segments says; 0: whole.
[[nodiscard]] Schedule built(const Algorithm& algorithm, const Problem& problem, Count segment);

/// Cuts every message, reduction and copy of more than `segment` elements into pieces of that size. Each piece is a
/// step of its own that waits only for the pieces that it touches: data that arrive piece by piece are passed on or
/// reduced piece by piece (pipelining). A step that follows another without touching its regions, as it is paced
/// (ScheduleBuilder::follow), waits for all pieces of that: by a copy of nothing, for which all of its own pieces wait.
/// Messages are cut alike on both sides. segment > 0; O(pieces log pieces), with as many dependencies.
[[nodiscard]] Schedule segmented(const Schedule& schedule, const Aliasing& aliasing, Count segment);

/// Joins receives with the reductions that alone use the received data, if the joined step waits for nothing that the
/// receive did not wait for; so nothing gets later, and no deadlock can arise.
[[nodiscard]] Schedule fused(Schedule schedule);

/// The schedule of a communicator of group.size() ranks, played by the ranks of the group.
[[nodiscard]] Schedule mapped(Schedule schedule, const Group& group);

}  // namespace tutti
