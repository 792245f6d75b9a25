#pragma once

#include <mpi.h>

namespace tutti::interpose::fortran {

/// The C handle of a Fortran handle.
template <class Handle>
[[nodiscard]] Handle to_c(MPI_Fint handle);

template <>
[[nodiscard]] inline MPI_Comm to_c<MPI_Comm>(MPI_Fint handle) {
  return MPI_Comm_f2c(handle);
}

template <>
[[nodiscard]] inline MPI_Datatype to_c<MPI_Datatype>(MPI_Fint handle) {
  return MPI_Type_f2c(handle);
}

template <>
[[nodiscard]] inline MPI_Op to_c<MPI_Op>(MPI_Fint handle) {
  return MPI_Op_f2c(handle);
}

template <>
[[nodiscard]] inline MPI_Info to_c<MPI_Info>(MPI_Fint handle) {
  return MPI_Info_f2c(handle);
}

template <>
[[nodiscard]] inline MPI_Request to_c<MPI_Request>(MPI_Fint handle) {
  return MPI_Request_f2c(handle);
}

[[nodiscard]] inline MPI_Fint to_fortran(MPI_Request request) { return MPI_Request_c2f(request); }

}  // namespace tutti::interpose::fortran
