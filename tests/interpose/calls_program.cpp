// Calls on each rank 10 times MPI_Barrier, MPI_Bcast and MPI_Allreduce, 5 times MPI_Allreduce by an operation of its
// own on a derived type, which is MPI's to do, and 5 times MPI_Iallreduce. If there is an argument, it does so on a
// duplicate of MPI_COMM_WORLD, where rank 0 alone makes a wrong call first. Checks the results.
#include <mpi.h>

#include <array>
#include <cstdio>

namespace {

// NOLINTNEXTLINE(readability-non-const-parameter): as MPI wants it
void add_two(void* in, void* inout, int* length, MPI_Datatype* /*type*/) {
  for (int i = 0; i < 2 * *length; ++i)
    static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

bool derived_sum_is_right(int size, MPI_Comm comm) {
  MPI_Datatype two = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_commit(&two);
  MPI_Op_create(add_two, 1, &op);
  const std::array<int, 2> ones{1, 1};
  std::array<int, 2> sums{};
  MPI_Allreduce(ones.data(), sums.data(), 1, two, op, comm);
  MPI_Op_free(&op);
  MPI_Type_free(&two);
  return sums[0] == size && sums[1] == size;
}

bool nonblocking_sum_is_right(int size, MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return sum == size;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  bool is_right = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm comm = MPI_COMM_NULL;
  if (argc > 1) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    int never = 0;
    if (rank == 0) is_right = MPI_Allgather(&never, 1, MPI_INT, &never, -1, MPI_INT, comm) != MPI_SUCCESS;
  } else {
    comm = MPI_COMM_WORLD;
  }
  for (int i = 0; i < 10; ++i) {
    int value = rank == i % size ? i : -1, sum = 0;
    MPI_Barrier(comm);
    MPI_Bcast(&value, 1, MPI_INT, i % size, comm);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    is_right &= value == i && sum == i * size;
  }
  for (int i = 0; i < 5; ++i)
    is_right &= derived_sum_is_right(size, comm) && nonblocking_sum_is_right(size, comm);
  MPI_Finalize();
  if (is_right && rank == 0) std::puts("all results are right");
  return is_right ? 0 : 1;
}
