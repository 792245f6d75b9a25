// The beginning of MPI, and MPI_Abort.
#include "bindings/preload/fortran/export.hpp"
#include "bindings/preload/fortran/forward.hpp"

namespace tutti::interpose::fortran {
namespace {

int init() { return MPI_Init(nullptr, nullptr); }

int init_thread(const MPI_Fint* required, MPI_Fint* provided) {
  return MPI_Init_thread(nullptr, nullptr, *required, provided);
}

}  // namespace

TUTTI_FORTRAN(init, INIT, init, 0)
TUTTI_FORTRAN(init_thread, INIT_THREAD, init_thread, 2)
TUTTI_FORTRAN(abort, ABORT, Forward{MPI_Abort}, 2)

}  // namespace tutti::interpose::fortran
