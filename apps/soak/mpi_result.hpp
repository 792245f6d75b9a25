#pragma once
// The MPI's result of a call.

#include <mpi.h>

#include "apps/soak/values.hpp"

namespace tutti::soak {

/// Whether the MPI has the call, its type and its operation.
[[nodiscard]] bool has_mpi_result(const Call& call);

/// All elements of the output of this rank, block after block; of no meaning where a call leaves the output alone.
/// Collective over `comm`. Only if has_mpi_result().
[[nodiscard]] ByteVector mpi_result(const Call& call, int repetition, int rank, MPI_Comm comm);

}  // namespace tutti::soak
