// MPI's tool interface, which the program began to use before MPI_Init, goes on.
#include <mpi.h>

#include <cstdio>

int main(int argc, char** argv) {
  int provided = 0, before = 0, after = 0, value_count = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_cvar_get_num(&before);
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_T_cvar_handle handle{};
  const bool is_open = MPI_T_cvar_get_num(&after) == MPI_SUCCESS && after >= before && after > 0 &&
                       MPI_T_cvar_handle_alloc(0, nullptr, &handle, &value_count) == MPI_SUCCESS &&
                       MPI_T_cvar_handle_free(&handle) == MPI_SUCCESS;
  MPI_T_finalize();
  if (!is_open) std::fprintf(stderr, "FAILED: %d variables, %d before MPI_Init\n", after, before);
  MPI_Finalize();
  return is_open ? 0 : 1;
}
