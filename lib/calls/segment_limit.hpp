#pragma once
// How many segments a call may be cut into.

#include <cstdint>
#include <string_view>

#include "lib/calls/arguments.hpp"
#include "lib/schedule/choice.hpp"

namespace tutti {

/// The most segments that one rank may have to send, to receive or to reduce in a call, if the user chose the
/// algorithm. The plan of a call has two steps or so for each, which take 1.5 KB while it is made (measured: pairwise
/// alltoall): 400 MB at most. Segments of 64 KiB still serve 16 GiB.
inline constexpr std::int64_t most_segments = 1 << 18;

/// About how many there are of a rank, the busiest one: a number that all ranks come to alike; but where blocks differ
/// and ranks know only their own, that of blocks as large as these are on average. 0: nothing is cut.
[[nodiscard]] std::int64_t segments_of(const Choice& choice, const Problem& problem, Type type);

/// Throws ArgumentError if there are more than most_segments; `why`: the source of the choice. All ranks throw alike,
/// except as segments_of() says.
void require_few_segments(const CallSite& site, const Choice& choice, const Problem& problem, Type type,
                          std::string_view why);

}  // namespace tutti
