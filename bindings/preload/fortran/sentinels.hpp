#pragma once

#include <mpi.h>

namespace tutti::interpose::fortran {

/// Whether a buffer is Fortran's MPI_IN_PLACE: like the other special values, a variable that is known by its address.
[[nodiscard]] bool is_in_place(const void* buffer) noexcept;

[[nodiscard]] bool is_bottom(const void* buffer) noexcept;

/// Whether `status` is MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE, of mpi_f08 or (Open MPI) of the older interfaces.
[[nodiscard]] bool is_status_ignore(const void* status) noexcept;

/// A LOGICAL of the value of `flag`. The first call, which has to be between MPI_Init and MPI_Finalize, asks the MPI
/// for its .true., since compilers differ in it.
[[nodiscard]] MPI_Fint logical(int flag) noexcept;

}  // namespace tutti::interpose::fortran
