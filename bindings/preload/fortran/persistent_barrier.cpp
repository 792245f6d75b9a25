// MPI_Barrier_init, for MPIs of version 4.
#include "bindings/preload/fortran/export.hpp"
#include "bindings/preload/fortran/forward.hpp"

namespace tutti::interpose::fortran {

TUTTI_FORTRAN(barrier_init, BARRIER_INIT, Forward{MPI_Barrier_init}, 3)

}  // namespace tutti::interpose::fortran
