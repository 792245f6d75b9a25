// The beginning of MPI.
#include "bindings/preload/fortran/export.hpp"

namespace tutti::interpose::fortran {
namespace {

int init() { return MPI_Init(nullptr, nullptr); }

int init_thread(const MPI_Fint* required, MPI_Fint* provided) {
  return MPI_Init_thread(nullptr, nullptr, *required, provided);
}

}  // namespace

TUTTI_FORTRAN(init, INIT, init, 0)
TUTTI_FORTRAN(init_thread, INIT_THREAD, init_thread, 2)

}  // namespace tutti::interpose::fortran
