#pragma once
// An error handler that counts.

#include <mpi.h>

#include "tests/interpose/world.hpp"

namespace tutti::test {

/// The calls of the handler, and the communicator and the class of the last one.
struct Handled {
  int times = 0, last_class = MPI_SUCCESS;
  MPI_Comm comm = MPI_COMM_NULL;
};
inline Handled handled;

// NOLINTNEXTLINE(cert-dcl50-cpp,readability-non-const-parameter): as MPI wants it
inline void note_error(MPI_Comm* comm, int* code, ...) { handled = {handled.times + 1, class_of(*code), *comm}; }

/// A duplicate of the world whose errors are noted in `handled`.
class NotingComm {
 public:
  NotingComm() {
    handled = {};
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(note_error, &handler);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Barrier(comm_);  // so that nonblocking calls are served
    MPI_Comm_set_errhandler(comm_, handler);
    MPI_Errhandler_free(&handler);
  }
  NotingComm(const NotingComm&) = delete;
  NotingComm& operator=(const NotingComm&) = delete;
  ~NotingComm() { free(); }
  void free() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace tutti::test
