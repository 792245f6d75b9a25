// The persistent collectives with buffers, for MPIs of version 4.
#include "bindings/preload/fortran/alltoallw.hpp"
#include "bindings/preload/fortran/export.hpp"
#include "bindings/preload/fortran/forward.hpp"

namespace tutti::interpose::fortran {

TUTTI_FORTRAN(bcast_init, BCAST_INIT, Forward{MPI_Bcast_init}, 7)
TUTTI_FORTRAN(reduce_init, REDUCE_INIT, Forward{MPI_Reduce_init}, 9)
TUTTI_FORTRAN(allreduce_init, ALLREDUCE_INIT, Forward{MPI_Allreduce_init}, 8)
TUTTI_FORTRAN(reduce_scatter_init, REDUCE_SCATTER_INIT, Forward{MPI_Reduce_scatter_init}, 8)
TUTTI_FORTRAN(reduce_scatter_block_init, REDUCE_SCATTER_BLOCK_INIT, Forward{MPI_Reduce_scatter_block_init}, 8)
TUTTI_FORTRAN(allgather_init, ALLGATHER_INIT, Forward{MPI_Allgather_init}, 9)
TUTTI_FORTRAN(allgatherv_init, ALLGATHERV_INIT, Forward{MPI_Allgatherv_init}, 10)
TUTTI_FORTRAN(gather_init, GATHER_INIT, Forward{MPI_Gather_init}, 10)
TUTTI_FORTRAN(gatherv_init, GATHERV_INIT, Forward{MPI_Gatherv_init}, 11)
TUTTI_FORTRAN(scatter_init, SCATTER_INIT, Forward{MPI_Scatter_init}, 10)
TUTTI_FORTRAN(scatterv_init, SCATTERV_INIT, Forward{MPI_Scatterv_init}, 11)
TUTTI_FORTRAN(alltoall_init, ALLTOALL_INIT, Forward{MPI_Alltoall_init}, 9)
TUTTI_FORTRAN(alltoallv_init, ALLTOALLV_INIT, Forward{MPI_Alltoallv_init}, 11)
TUTTI_FORTRAN(alltoallw_init, ALLTOALLW_INIT, ForwardAlltoallw{MPI_Alltoallw_init}, 11)
TUTTI_FORTRAN(scan_init, SCAN_INIT, Forward{MPI_Scan_init}, 8)
TUTTI_FORTRAN(exscan_init, EXSCAN_INIT, Forward{MPI_Exscan_init}, 8)

}  // namespace tutti::interpose::fortran
