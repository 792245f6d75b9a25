#pragma once
// The registry as a table for people to read.

#include <string>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti {

/// "of ranks", "fixed" (that, and in the fixed order), "any", or "-" where nothing is reduced.
[[nodiscard]] std::string_view order_of(const Algorithm& algorithm);
/// "radix=2", or "-".
[[nodiscard]] std::string parameter_of(const Algorithm& algorithm);

/// The table of algorithms/README.md: a row per algorithm, by collective. The costs are those stated for 8 ranks, in
/// units of the count.
[[nodiscard]] std::string catalogue_table();

}  // namespace tutti
