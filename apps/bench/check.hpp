#pragma once
// Whether a call does what it should, element by element.

#include "apps/bench/buffers.hpp"

namespace tutti::bench {

/// Makes `repeater` do one call on values that depend on rank and position; elements of this rank's buffers, and of
/// what lies behind them, that are wrong afterwards: results, and what must not have been written.
[[nodiscard]] std::int64_t wrong_elements(const BenchCollective& collective, const Buffers& buffers, const Call& call,
                                          Repeater& repeater);

}  // namespace tutti::bench
