#pragma once
// The sizes of blocks that ranks tell each other before their data (Algorithm::exchange). Needs no MPI.

#include "tutti/datatype.hpp"
#include "tutti/schedule.hpp"

namespace tutti::detail {

/// Throws Error unless all are sizes of blocks, and the sizes that the ranks of a gather told its root, or the root of
/// a scatter told a rank, are those that the caller gave there. Where sizes are told inside nodes only, there are none
/// to compare.
void require_expected_sizes(const Problem& problem, Type type);

}  // namespace tutti::detail
