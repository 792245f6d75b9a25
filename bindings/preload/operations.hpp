#pragma once
// MPI's operations, as Tutti runs them.

#include <mpi.h>

#include <cstdint>
#include <optional>

#include "bindings/preload/datatypes.hpp"
#include "tutti/op.hpp"

namespace tutti::interpose {

/// MPI combines the elements: for its own operations on types that Tutti does not know, and for the user's.
enum class CombinedBy : std::uint8_t { tutti, mpi, user };

/// How Tutti reduces elements of a type by an operation of MPI's: by its own operation, or by MPI_Reduce_local on
/// elements of the same size.
struct Reduction {
  Type type = Type::uint8;
  Op op = Op::sum;
  CombinedBy combined_by = CombinedBy::tutti;
};

/// Operands of operations that MPI combines keep their sides from now on, also of those that commute.
void keep_sides_of_operands();

/// Nothing: MPI has to do it, or to say that there is no such operation for the type. That is so on all ranks, as they
/// name the same type and operation.
[[nodiscard]] std::optional<Reduction> reduction_of(MPI_Op op, MPI_Datatype type, const Layout& layout);

}  // namespace tutti::interpose
