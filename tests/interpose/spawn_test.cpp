// Worlds that MPI_Comm_spawn made: collectives that reach over both are MPI's, those within a world are served.
#include <mpi.h>

#include <cstdio>

namespace {

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm between = MPI_COMM_NULL, both = MPI_COMM_NULL;
  MPI_Comm_get_parent(&between);
  const bool is_child = between != MPI_COMM_NULL;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (!is_child)
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  int others = 0;
  MPI_Comm_remote_size(between, &others);
  const bool over_both_groups = sum_of_ones(between) == others;
  MPI_Intercomm_merge(between, is_child ? 1 : 0, &both);
  const bool over_all = sum_of_ones(both) == size + others;
  const bool over_own_world = sum_of_ones(MPI_COMM_WORLD) == size;
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&between);
  const bool is_right = over_both_groups && over_all && over_own_world;
  if (!is_right) std::fprintf(stderr, "FAILED: %d %d %d\n", over_both_groups, over_all, over_own_world);
  MPI_Finalize();
  return is_right ? 0 : 1;
}
