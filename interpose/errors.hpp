#pragma once
// Errors of Tutti, as MPI reports errors.

#include <mpi.h>

#include <string>

namespace tutti::interpose {

/// For a catch block: hands the error to the error handler of `comm`, as MPI does, and returns its code, whose class is
/// MPI's and whose text is Tutti's.
[[nodiscard]] int raise_current(MPI_Comm comm) noexcept;

/// The same for an error of that class.
[[nodiscard]] int raise(MPI_Comm comm, int error_class, const std::string& text) noexcept;

}  // namespace tutti::interpose
