#pragma once

#include <mpi.h>

#include <type_traits>

namespace tutti::interpose::fortran {

// The Fortran of this MPI has INTEGERs of C's int, so that arrays of counts are passed on as they are.
static_assert(std::is_same_v<MPI_Fint, int>);

/// The C handle of a Fortran handle. Where both are integers (MPICH), they are the same.
template <class Handle>
[[nodiscard]] Handle to_c(MPI_Fint handle) {
  if constexpr (std::is_same_v<Handle, MPI_Fint>)
    return handle;
  else if constexpr (std::is_same_v<Handle, MPI_Comm>)
    return MPI_Comm_f2c(handle);
  else if constexpr (std::is_same_v<Handle, MPI_Datatype>)
    return MPI_Type_f2c(handle);
  else if constexpr (std::is_same_v<Handle, MPI_Op>)
    return MPI_Op_f2c(handle);
  else if constexpr (std::is_same_v<Handle, MPI_Info>)
    return MPI_Info_f2c(handle);
  else
    return MPI_Request_f2c(handle);
}

template <class Handle>
[[nodiscard]] MPI_Fint to_fortran(Handle handle) {
  if constexpr (std::is_same_v<Handle, MPI_Fint>)
    return handle;
  else if constexpr (std::is_same_v<Handle, MPI_Comm>)
    return MPI_Comm_c2f(handle);
  else if constexpr (std::is_same_v<Handle, MPI_Datatype>)
    return MPI_Type_c2f(handle);
  else if constexpr (std::is_same_v<Handle, MPI_Op>)
    return MPI_Op_c2f(handle);
  else
    return MPI_Request_c2f(handle);
}

/// Calls `function` with a handle that it may change, as MPI_Comm_free does. An unchanged handle is not written, so
/// that an invalid one stays as it was.
template <class Handle>
int with_handle(int (*function)(Handle*), MPI_Fint* place) {
  const Handle before = to_c<Handle>(*place);
  Handle handle = before;
  const int code = function(&handle);
  if (handle != before) *place = to_fortran(handle);
  return code;
}

}  // namespace tutti::interpose::fortran
