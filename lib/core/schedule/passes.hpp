#pragma once
// Passes: schedule -> schedule. They keep the result of an algorithm and change the way to it.

#include <cstdint>
#include <limits>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// The most segments that one rank may have to send, to receive or to reduce in a call. The plan of a call has two
/// steps or so for each, which take 1.5 KB while it is made (measured: pairwise alltoall): 400 MB at most. Segments of
/// 64 KiB still serve 16 GiB.
inline constexpr std::int64_t most_segments = 1 << 18;

/// Whether blocks differ in size and ranks know only their own: no rank knows how many segments another one has.
[[nodiscard]] bool is_known_in_part(const Problem& problem);

/// The schedule that an algorithm builds, in segments of so many elements as Algorithm::segments says; 0: whole. Where
/// the sizes are known in part, messages of more than most_segments / ranks segments have that many larger ones: so no
/// rank has too many, and the ends of a message, which both know its size, cut it alike.
[[nodiscard]] Schedule built(const Algorithm& algorithm, const Problem& problem, Count segment);

/// Cuts every message, reduction and copy of more than `segment` elements into pieces of that size. Each piece is a
/// step of its own that waits only for the pieces that it touches: data that arrive piece by piece are passed on or
/// reduced piece by piece (pipelining). A step that follows another without touching its regions, as it is paced
/// (ScheduleBuilder::follow), waits for all pieces of that: by a copy of nothing, for which all of its own pieces wait.
/// Messages are cut alike on both sides: into no more than `most_pieces` pieces each, which are larger then. segment,
/// most_pieces > 0; O(pieces log pieces), with as many dependencies.
[[nodiscard]] Schedule segmented(const Schedule& schedule, const Aliasing& aliasing, Count segment,
                                 std::int64_t most_pieces = std::numeric_limits<std::int64_t>::max());

/// Joins receives with the reductions that alone use the received data, if the joined step waits for nothing that the
/// receive did not wait for; so nothing gets later, and no deadlock can arise.
[[nodiscard]] Schedule fused(Schedule schedule);

/// The schedule of a communicator of group.size() ranks, played by the ranks of the group.
[[nodiscard]] Schedule mapped(Schedule schedule, const Group& group);

}  // namespace tutti
