#pragma once

#include <mpi.h>

#include <type_traits>

#include "fortran_handles.hpp"  // of openmpi or mpich: to_c<Handle>(MPI_Fint), and to_fortran(handle)

namespace tutti::interpose::fortran {

// The Fortran of this MPI has INTEGERs of C's int, so that arrays of counts are passed on as they are.
static_assert(std::is_same_v<MPI_Fint, int>);

/// Calls `function` with a handle that it may change, as MPI_Comm_free does. An unchanged handle is not written, so
/// that an invalid one stays as it was.
template <class Handle>
int with_handle(int (*function)(Handle*), MPI_Fint* place) {
  const auto before = to_c<Handle>(*place);
  Handle handle = before;
  const int code = function(&handle);
  if (handle != before) *place = to_fortran(handle);
  return code;
}

}  // namespace tutti::interpose::fortran
