#pragma once
// How many segments a call may be cut into.

#include <cstdint>
#include <string_view>

#include "lib/core/call/arguments.hpp"
#include "lib/core/schedule/choice.hpp"

namespace tutti {

/// About how many there are of a rank, the busiest one: a number that all ranks come to alike. 0: nothing is cut, or
/// ranks know only the sizes of their own blocks, and built() keeps the limit.
[[nodiscard]] std::int64_t segments_of(const Choice& choice, const Problem& problem, Type type);

/// Throws ArgumentError if the user chose an algorithm by which there are more than most_segments (passes.hpp); `why`:
/// the source of the choice. All ranks throw alike.
void require_few_segments(const CallSite& site, const Choice& choice, const Problem& problem, Type type,
                          std::string_view why);

}  // namespace tutti
