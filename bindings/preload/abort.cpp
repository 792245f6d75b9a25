// The end of a program that gives up.
#include "bindings/preload/beneath.hpp"
#include "bindings/preload/process.hpp"
#include "tutti/export.hpp"

extern "C" {

TUTTI_API int MPI_Abort(MPI_Comm comm, int code) {
  tutti::interpose::keep_records();
  return TUTTI_BENEATH(MPI_Abort)(comm, code);
}
}
