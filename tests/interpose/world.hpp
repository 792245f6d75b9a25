#pragma once
// The ranks of a communicator, and error codes as classes.

#include <mpi.h>

#include <array>
#include <string_view>

namespace tutti::test {

inline int rank_in(MPI_Comm comm = MPI_COMM_WORLD) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

inline int size_of(MPI_Comm comm = MPI_COMM_WORLD) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

inline int class_of(int code) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  return error_class;
}

/// Whether the MPI is the one of that name: for what only one of them finds wrong, and for their faults.
inline bool library_is(std::string_view name) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return std::string_view{text.data()}.find(name) != std::string_view::npos;
}

/// A duplicate of the world whose errors return.
class ReturningComm {
 public:
  ReturningComm() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    MPI_Barrier(comm_);  // so that nonblocking calls are served, too
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ReturningComm(const ReturningComm&) = delete;
  ReturningComm& operator=(const ReturningComm&) = delete;
  ~ReturningComm() { MPI_Comm_free(&comm_); }
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace tutti::test
