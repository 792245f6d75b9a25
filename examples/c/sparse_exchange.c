/* Blocks of differing sizes, in a call that is under way while the program computes: every rank sends the numbers that
   it has for each other rank. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tutti.h"

static void check(tutti_status status) {
  if (status == TUTTI_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", tutti_error_string(status), tutti_last_error());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  tutti_comm comm;
  tutti_request request;
  int rank, size, is_complete = 0;
  int64_t sent = 0, received = 0, sum = 0;
  double busy = 0;
  MPI_Init(&argc, &argv);
  check(tutti_comm_create(MPI_COMM_WORLD, NULL, &comm));
  check(tutti_comm_rank(comm, &rank));
  check(tutti_comm_size(comm, &size));

  /* Rank a has a + b numbers for rank b. The counts travel first. */
  int64_t* counts = malloc(2 * (size_t)size * sizeof(int64_t));
  int64_t* const incoming = counts + size;
  for (int r = 0; r < size; ++r)
    sent += counts[r] = rank + r;
  check(tutti_alltoall(counts, incoming, 1, TUTTI_INT64, comm, NULL));
  for (int r = 0; r < size; ++r)
    received += incoming[r];

  int64_t* numbers = malloc((size_t)(sent + received + 1) * sizeof(int64_t));
  int64_t* const arrived = numbers + sent;
  for (int64_t i = 0; i < sent; ++i)
    numbers[i] = 1;
  /* Without offsets the blocks lie one after the other. */
  check(tutti_alltoallv_async(numbers, counts, NULL, arrived, incoming, NULL, TUTTI_INT64, comm, NULL, &request));
  while (!is_complete) { /* other work; each look moves the call forward */
    for (int i = 0; i < 1000; ++i)
      busy += 1.0 / (1 + i);
    check(tutti_request_test(&request, &is_complete));
  }
  for (int64_t i = 0; i < received; ++i)
    sum += arrived[i];
  check(tutti_allreduce(TUTTI_IN_PLACE, &sum, 1, TUTTI_INT64, TUTTI_SUM, comm, NULL));
  if (rank == 0) printf("%lld numbers were exchanged%s\n", (long long)sum, busy > 0 ? "" : " at once");

  free(numbers);
  free(counts);
  check(tutti_comm_free(&comm));
  MPI_Finalize();
  return 0;
}
