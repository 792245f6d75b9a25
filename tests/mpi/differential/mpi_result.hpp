#pragma once
// The MPI's result of a call.

#include <mpi.h>

#include <optional>

#include "values.hpp"

namespace tutti::differential {

/// Whether the MPI has the call, its type and its operation.
[[nodiscard]] bool has_mpi_result(const Call& call);

/// All elements of the output of this rank, block after block. Nothing: the output is left alone. Collective over
/// `comm`. Only if has_mpi_result().
[[nodiscard]] std::optional<ByteVector> mpi_result(const Call& call, int repetition, int rank, MPI_Comm comm);

}  // namespace tutti::differential
