#pragma once
// How ranks that carry blocks of differing sizes for others of their node learn the sizes, before anything crosses.

#include "tutti/algorithm.hpp"

namespace tutti {

/// The exchange of a gather or scatter. The leader of every node but the root's learns the sizes of the node's blocks,
/// by place. The root knows all sizes; the other ranks need only their own.
[[nodiscard]] Exchange leaders_learn_sizes(const Problem& problem);

/// The exchange of an alltoall. The ranks that carry for a pair of nodes learn the sizes of its blocks from the ranks
/// of their own node, which know the sizes of the blocks that they send and get: PairSizes of one pair after the other.
[[nodiscard]] Exchange carriers_learn_sizes(const Problem& problem);

}  // namespace tutti
