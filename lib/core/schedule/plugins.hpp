#pragma once
// The registry's algorithms, and behind them those of loaded libraries.

#include <span>

#include "tutti/algorithm.hpp"

namespace tutti {

/// The registered algorithms, and those that were loaded. Spans that were given before stay valid.
[[nodiscard]] std::span<const Algorithm* const> with_loaded(std::span<const Algorithm* const> registered);
/// Whether the algorithm is of a loaded library.
[[nodiscard]] bool is_loaded(const Algorithm& algorithm);
/// load_algorithms() of TUTTI_ALGORITHMS, if it is set.
void load_algorithms_in_environment();

}  // namespace tutti
