#pragma once
// MPI's names of types and operations.

#include <mpi.h>

#include <optional>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::bench {

/// Nothing where MPI lacks the type (fp8, fp16, bf16) or the operation (avg, scaled_sum).
[[nodiscard]] std::optional<MPI_Datatype> mpi_type(Type type);
/// For elements that are only moved: one of the same size where MPI lacks the type.
[[nodiscard]] MPI_Datatype mpi_type_of_size(Type type);
[[nodiscard]] std::optional<MPI_Op> mpi_op(Op::Kind kind);

}  // namespace tutti::bench
