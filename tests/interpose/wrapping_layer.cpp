// A layer that keeps MPI_Init from the libraries behind it.
#include <mpi.h>

extern "C" {
int MPI_Init(int* argc, char*** argv) { return PMPI_Init(argc, argv); }
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return PMPI_Init_thread(argc, argv, required, provided);
}
}
