// The beginning of MPI, as the program calls it.
#include <cstdio>

#include "bindings/preload/beneath.hpp"
#include "bindings/preload/process.hpp"
#include "bindings/preload/right_mpi.hpp"
#include "tutti/export.hpp"

namespace {

bool has_begun = false;

/// The end of a process that used MPI without this library's MPI_Init.
struct LastWord {
  LastWord() = default;
  LastWord(const LastWord&) = delete;
  LastWord& operator=(const LastWord&) = delete;
  ~LastWord() {
    int was_initialized = 0;
    PMPI_Initialized(&was_initialized);
    if (has_begun || was_initialized == 0 || !tutti::interpose::is_first_rank()) return;
    std::fputs(
        "tutti: no call was served: MPI_Init did not come through the preloaded library, as another layer wraps it, or "
        "the program found it by dlopen\n",
        stderr);
  }
};
const LastWord last_word;

int begun(int result) {
  has_begun = true;
  if (result == MPI_SUCCESS) tutti::interpose::begin();
  return result;
}

}  // namespace

extern "C" {

TUTTI_API int MPI_Init(int* argc, char*** argv) {
  tutti::interpose::require_right_mpi();
  return begun(TUTTI_BENEATH(MPI_Init)(argc, argv));
}

TUTTI_API int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  tutti::interpose::require_right_mpi();
  return begun(TUTTI_BENEATH(MPI_Init_thread)(argc, argv, required, provided));
}
}
