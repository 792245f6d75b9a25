// The collectives without buffers.
#include "bindings/preload/fortran/export.hpp"
#include "bindings/preload/fortran/forward.hpp"

namespace tutti::interpose::fortran {

TUTTI_FORTRAN(barrier, BARRIER, Forward{MPI_Barrier}, 1)
TUTTI_FORTRAN(ibarrier, IBARRIER, Forward{MPI_Ibarrier}, 2)

}  // namespace tutti::interpose::fortran
