#pragma once
// The algorithm that a call runs.

#include "lib/core/selection/selection.hpp"
#include "lib/watch/records/signature.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

class CommunicatorState;

/// The algorithm that the options name, if it serves the call, else the one that settings and rules say. All ranks
/// choose alike. Throws ArgumentError if the named one does not serve.
[[nodiscard]] Selection chosen(const Call& call, const Problem& problem, const CommunicatorState& state,
                               const Options& options, records::Manner manner);

}  // namespace tutti::detail
