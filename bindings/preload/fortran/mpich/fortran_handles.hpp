#pragma once

#include <mpi.h>

namespace tutti::interpose::fortran {

// A handle is the same number in both languages.

template <class Handle>
[[nodiscard]] Handle to_c(MPI_Fint handle) {
  return handle;
}

[[nodiscard]] inline MPI_Fint to_fortran(MPI_Fint handle) { return handle; }

}  // namespace tutti::interpose::fortran
