// The end: communicators left open, and callbacks of the program that call collectives while MPI deletes attributes.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int callbacks = 0;

void require(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::_Exit(1);
}

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

int size_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

int add_up_when_deleted(MPI_Comm /*comm*/, int /*key*/, void* /*value*/, void* /*extra*/) {
  ++callbacks;
  require(sum_of_ones(MPI_COMM_WORLD) == size_of_world(), "a collective in a delete callback");
  return MPI_SUCCESS;
}

/// An attribute that MPI deletes with the communicator.
void attach(MPI_Comm comm) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, add_up_when_deleted, &key, nullptr);
  MPI_Comm_set_attr(comm, key, nullptr);
  MPI_Comm_free_keyval(&key);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int size = size_of_world();
  std::vector<MPI_Comm> open(20, MPI_COMM_NULL);
  for (MPI_Comm& comm : open) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    require(sum_of_ones(comm) == size, "a collective on a duplicate");
  }
  attach(open[3]);
  MPI_Comm_free(&open[3]);
  require(callbacks == 1, "the callback of a freed communicator");
  attach(MPI_COMM_SELF);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  std::vector<int> data(3);
  MPI_Bcast(data.data(), 1, type, 0, open[1]);  // the type stays, too
  MPI_Finalize();
  require(callbacks == 2, "the callback at MPI_Finalize");
  return 0;
}
