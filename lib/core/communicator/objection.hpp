#pragma once
// How ranks learn that one of them cannot do what all have to.

#include <mpi.h>

#include <string>

namespace tutti::detail {

/// Collective over `comm`: the objection of the lowest rank that has one, "rank 3: why"; empty if none has. `why` is
/// empty on ranks that have none.
[[nodiscard]] std::string first_objection(MPI_Comm comm, int rank, const std::string& why);

}  // namespace tutti::detail
