#pragma once
// Where the buffers of a call lie, and whether they share memory.

#include "lib/core/call/arguments.hpp"
#include "tutti/call.hpp"

namespace tutti {

/// The memory of a call's buffers.
struct CallMemory {
  BufferMemory in{}, out{};
};

/// The problem that a call poses to this rank, with `in` and `out` set to the memory that is really read and written:
/// MPI_IN_PLACE becomes the address it stands for. Throws ArgumentError for every argument that is not allowed; looks
/// at no memory. Says in `memory` where the buffers are. The problem's lists are views of the call's, which has to stay
/// as it is.
[[nodiscard]] Problem problem_of(const CallSite& site, detail::Call& call, int size, CallMemory& memory);

/// A check that is made once per plan, as it takes longer: blocks that are written must not overlap.
void require_disjoint_blocks(const CallSite& site, const Problem& problem);

}  // namespace tutti
