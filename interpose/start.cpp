// The beginning of MPI, as the program calls it.
#include "interpose/beneath.hpp"
#include "interpose/process.hpp"
#include "interpose/right_mpi.hpp"
#include "tutti/export.hpp"

extern "C" {

TUTTI_API int MPI_Init(int* argc, char*** argv) {
  tutti::interpose::require_right_mpi();
  const int result = TUTTI_BENEATH(MPI_Init)(argc, argv);
  if (result == MPI_SUCCESS) tutti::interpose::begin();
  return result;
}

TUTTI_API int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  tutti::interpose::require_right_mpi();
  const int result = TUTTI_BENEATH(MPI_Init_thread)(argc, argv, required, provided);
  if (result == MPI_SUCCESS) tutti::interpose::begin();
  return result;
}
}
