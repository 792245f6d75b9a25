#pragma once
// The numbers of ranks and of nodes that rules tell apart, and what they choose there.

#include <vector>

#include "lib/core/selection/rules.hpp"

namespace tutti::tool {

/// Numbers from 1 to `most` in ranges within which no range among the rules of the collective begins or ends; the last
/// range is open.
[[nodiscard]] std::vector<Range> rank_ranges(Collective collective, const std::vector<const RuleTable*>& tables,
                                             std::int64_t most);
/// The same for the nodes of so many ranks, which are spread evenly; of one node it is known that its ranks share
/// memory.
[[nodiscard]] std::vector<Range> node_ranges(Collective collective, const std::vector<const RuleTable*>& tables,
                                             std::int64_t ranks);

}  // namespace tutti::tool
