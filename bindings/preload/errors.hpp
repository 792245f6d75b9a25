#pragma once
// Errors of Tutti, as MPI reports errors.

#include <mpi.h>

#include <string>

namespace tutti::interpose {

/// MPI's code of the error that a catch block has caught.
[[nodiscard]] int code_of_current() noexcept;

// Handlers of C++ may throw.
/// Hands a code to an error handler as MPI does, and returns it: to that of `comm`, or to `handler`, which outlived its
/// communicator.
int raise(MPI_Comm comm, int code);
int raise_by(MPI_Errhandler handler, int code);

/// For a catch block: hands the error to the error handler of `comm`, as MPI does, and returns its code, whose class is
/// MPI's and whose text is Tutti's.
[[nodiscard]] int raise_current(MPI_Comm comm);

/// A code of that class with that text.
[[nodiscard]] int code_of(int error_class, const std::string& text) noexcept;

}  // namespace tutti::interpose
