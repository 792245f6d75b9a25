// MPI_Alltoallw and MPI_Ialltoallw.
#include "bindings/preload/fortran/alltoallw.hpp"

#include "bindings/preload/fortran/export.hpp"

namespace tutti::interpose::fortran {

TUTTI_FORTRAN(alltoallw, ALLTOALLW, ForwardAlltoallw{MPI_Alltoallw}, 9)
TUTTI_FORTRAN(ialltoallw, IALLTOALLW, ForwardAlltoallw{MPI_Ialltoallw}, 10)

}  // namespace tutti::interpose::fortran
