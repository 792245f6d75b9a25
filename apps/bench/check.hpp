#pragma once
// Checks of a call's results, element by element.

#include "apps/bench/buffers.hpp"

namespace tutti::bench {

/// Makes `repeater` do one call on values that depend on rank and position. Returns the number of elements in this
/// rank's buffers, and behind them, that are wrong afterwards: results, and elements that must not have been written.
[[nodiscard]] std::int64_t wrong_elements(const BenchCollective& collective, const Buffers& buffers, const Call& call,
                                          Repeater& repeater);

}  // namespace tutti::bench
