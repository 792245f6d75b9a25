/* The mean and the largest of measurements that all ranks have taken. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tutti.h"

/* The text says which argument of which call was wrong, on which rank, and what is allowed. */
static void check(tutti_status status) {
  if (status == TUTTI_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", tutti_error_string(status), tutti_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  enum { count = 1000 };
  double measured[count], sums[2] = {0, 0}, largest = 0;
  tutti_comm comm;
  int rank;
  MPI_Init(&argc, &argv);
  check(tutti_comm_create(MPI_COMM_WORLD, NULL, &comm));
  check(tutti_comm_rank(comm, &rank));

  for (int i = 0; i < count; ++i) {
    measured[i] = rank + i / 1000.0;
    sums[0] += measured[i];
    sums[1] += 1;
    if (measured[i] > largest) largest = measured[i];
  }
  /* Both sums in one call, in place; the largest to rank 0 only. */
  check(tutti_allreduce(TUTTI_IN_PLACE, sums, 2, TUTTI_FP64, TUTTI_SUM, comm, NULL));
  check(tutti_reduce(rank == 0 ? TUTTI_IN_PLACE : &largest, &largest, 1, TUTTI_FP64, TUTTI_MAX, 0, comm, NULL));
  if (rank == 0) printf("%.0f measurements, mean %.4f, largest %.3f\n", sums[1], sums[0] / sums[1], largest);

  check(tutti_comm_free(&comm)); /* before MPI_Finalize */
  MPI_Finalize();
  return 0;
}
