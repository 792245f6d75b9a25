#pragma once
// Which sizes are measured, and with how many calls.

#include <vector>

#include "tutti/types.hpp"

namespace tutti::bench {

/// Counts of elements for the sizes least, least * factor, ... up to `most` bytes. A size that is no multiple of the
/// element is rounded down, to one element at least; no count comes twice. Needs 1 <= least <= most, element <= most,
/// factor >= 2.
[[nodiscard]] std::vector<Count> sweep(Bytes least, Bytes most, int factor, Bytes element);

/// Calls that make up a round: enough for a few milliseconds, so that the clock and the barrier around the round do not
/// count, yet never more than `most_calls`.
[[nodiscard]] int calls_per_round(double seconds_per_call);
inline constexpr double round_seconds = 4e-3;
inline constexpr int most_calls = 100'000;

/// Untimed calls at the start of a round of `calls`: they bring back into the caches the data that the other side of a
/// comparison has displaced. None where a call is so long that the caches do not matter.
[[nodiscard]] constexpr int calls_before_round(int calls) { return calls / 8; }

}  // namespace tutti::bench
