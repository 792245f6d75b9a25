// A tool as others preload them: counts some calls of MPI, hands them to the PMPI_ names, and prints the counts of rank
// 0.
#include <mpi.h>

#include <cstdio>

namespace {
int barriers = 0, broadcasts = 0, allreduces = 0;
}

extern "C" {

int MPI_Barrier(MPI_Comm comm) {
  ++barriers;
  return PMPI_Barrier(comm);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  ++broadcasts;
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  ++allreduces;
  return PMPI_Allreduce(in, out, count, type, op, comm);
}

int MPI_Finalize() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0)
    std::fprintf(stderr, "tool: %d barriers, %d broadcasts, %d allreduces\n", barriers, broadcasts, allreduces);
  return PMPI_Finalize();
}
}
