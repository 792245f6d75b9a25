#pragma once
// Where the buffers of a call lie, and whether they share memory.

#include "lib/calls/arguments.hpp"
#include "tutti/call.hpp"

namespace tutti {

/// The problem that a call poses to this rank, with `in` and `out` set to what is really read and written: MPI_IN_PLACE
/// becomes the address it stands for. Throws ArgumentError for every argument that is not allowed; looks at no memory.
/// The problem's lists are views of the call's, which has to stay as it is.
[[nodiscard]] Problem problem_of(const CallSite& site, detail::Call& call, int size);

/// What is checked once per plan, as it takes longer: that blocks which are written do not overlap.
void require_disjoint_blocks(const CallSite& site, const Problem& problem);

}  // namespace tutti
