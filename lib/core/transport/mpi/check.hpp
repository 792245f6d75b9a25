#pragma once

#include <mpi.h>

#include <cstdint>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::mpi {

/// Throws MpiError unless `code` is MPI_SUCCESS; `call` is the name of the function that returned it.
inline void check(int code, std::string_view call, SourcePlace where = SourcePlace::current()) {
  if (code != MPI_SUCCESS) throw MpiError(code, call, where);
}

/// The one place where 64-bit amounts become the `int` that MPI takes.
[[nodiscard]] int narrow(std::int64_t amount, SourcePlace where = SourcePlace::current());

/// The rank of this process in `comm`, and the number of ranks there.
[[nodiscard]] int rank_in(MPI_Comm comm);
[[nodiscard]] int ranks_in(MPI_Comm comm);

}  // namespace tutti::mpi
