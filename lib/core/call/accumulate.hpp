#pragma once
// Sums in a wider type: what Options::accumulate and Options::rounding ask for.

#include "lib/core/call/arguments.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

/// The operation of a call with these options. ArgumentError if they ask for what there is not.
[[nodiscard]] Op op_of(const CallSite& site, const Call& call, const Options& options);

}  // namespace tutti::detail
