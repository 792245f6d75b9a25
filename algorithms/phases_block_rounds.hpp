#pragma once
// Phases in rounds that divide blocks among ranks.

#include <vector>

#include "block_rounds_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// The whole reduce_scatter of a problem by such rounds. Operands are combined in the order of ranks if those of each
/// round are neighbours in it. Scratch: the blocks kept in two rounds, each as often as there are ranks they come from.
[[nodiscard]] Schedule reduce_scatter_in_rounds(const Problem& problem, const std::vector<BlockRound>& rounds);

/// The whole allgather of a problem by the same rounds backwards. No scratch.
[[nodiscard]] Schedule allgather_in_rounds(const Problem& problem, const std::vector<BlockRound>& rounds);

}  // namespace tutti
