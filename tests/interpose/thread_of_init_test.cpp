// A program below MPI_THREAD_MULTIPLE whose collectives are not called by the thread that called MPI_Init_thread.
#include <mpi.h>

#include <cstdio>
#include <thread>

namespace {

int sum_of_ones() {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, size = 0, before = 0, after = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::thread{[&] { before = sum_of_ones(); }}.join();
  std::thread{[&] {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
  }}.join();
  after = sum_of_ones();
  const bool is_right = provided < MPI_THREAD_SERIALIZED || (before == size && after == size);
  if (!is_right) std::fprintf(stderr, "sums of %d and %d on %d ranks\n", before, after, size);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
