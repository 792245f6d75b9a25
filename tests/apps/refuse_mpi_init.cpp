// Loaded before an MPI (LD_PRELOAD), ends the program that initialises it.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

int refuse() {
  std::fputs("MPI was initialised\n", stderr);
  std::_Exit(3);
}

}  // namespace

extern "C" {

int MPI_Init(int* /*argc*/, char*** /*argv*/) { return refuse(); }
int MPI_Init_thread(int* /*argc*/, char*** /*argv*/, int /*required*/, int* /*provided*/) { return refuse(); }

}  // extern "C"
