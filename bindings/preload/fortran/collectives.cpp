// The collectives with buffers, blocking and nonblocking. alltoallw.cpp has those with arrays of types.
#include "bindings/preload/fortran/export.hpp"
#include "bindings/preload/fortran/forward.hpp"

namespace tutti::interpose::fortran {

TUTTI_FORTRAN(bcast, BCAST, Forward{MPI_Bcast}, 5)
TUTTI_FORTRAN(reduce, REDUCE, Forward{MPI_Reduce}, 7)
TUTTI_FORTRAN(allreduce, ALLREDUCE, Forward{MPI_Allreduce}, 6)
TUTTI_FORTRAN(reduce_scatter, REDUCE_SCATTER, Forward{MPI_Reduce_scatter}, 6)
TUTTI_FORTRAN(reduce_scatter_block, REDUCE_SCATTER_BLOCK, Forward{MPI_Reduce_scatter_block}, 6)
TUTTI_FORTRAN(allgather, ALLGATHER, Forward{MPI_Allgather}, 7)
TUTTI_FORTRAN(allgatherv, ALLGATHERV, Forward{MPI_Allgatherv}, 8)
TUTTI_FORTRAN(gather, GATHER, Forward{MPI_Gather}, 8)
TUTTI_FORTRAN(gatherv, GATHERV, Forward{MPI_Gatherv}, 9)
TUTTI_FORTRAN(scatter, SCATTER, Forward{MPI_Scatter}, 8)
TUTTI_FORTRAN(scatterv, SCATTERV, Forward{MPI_Scatterv}, 9)
TUTTI_FORTRAN(alltoall, ALLTOALL, Forward{MPI_Alltoall}, 7)
TUTTI_FORTRAN(alltoallv, ALLTOALLV, Forward{MPI_Alltoallv}, 9)
TUTTI_FORTRAN(scan, SCAN, Forward{MPI_Scan}, 6)
TUTTI_FORTRAN(exscan, EXSCAN, Forward{MPI_Exscan}, 6)

TUTTI_FORTRAN(ibcast, IBCAST, Forward{MPI_Ibcast}, 6)
TUTTI_FORTRAN(ireduce, IREDUCE, Forward{MPI_Ireduce}, 8)
TUTTI_FORTRAN(iallreduce, IALLREDUCE, Forward{MPI_Iallreduce}, 7)
TUTTI_FORTRAN(ireduce_scatter, IREDUCE_SCATTER, Forward{MPI_Ireduce_scatter}, 7)
TUTTI_FORTRAN(ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, Forward{MPI_Ireduce_scatter_block}, 7)
TUTTI_FORTRAN(iallgather, IALLGATHER, Forward{MPI_Iallgather}, 8)
TUTTI_FORTRAN(iallgatherv, IALLGATHERV, Forward{MPI_Iallgatherv}, 9)
TUTTI_FORTRAN(igather, IGATHER, Forward{MPI_Igather}, 9)
TUTTI_FORTRAN(igatherv, IGATHERV, Forward{MPI_Igatherv}, 10)
TUTTI_FORTRAN(iscatter, ISCATTER, Forward{MPI_Iscatter}, 9)
TUTTI_FORTRAN(iscatterv, ISCATTERV, Forward{MPI_Iscatterv}, 10)
TUTTI_FORTRAN(ialltoall, IALLTOALL, Forward{MPI_Ialltoall}, 8)
TUTTI_FORTRAN(ialltoallv, IALLTOALLV, Forward{MPI_Ialltoallv}, 10)
TUTTI_FORTRAN(iscan, ISCAN, Forward{MPI_Iscan}, 7)
TUTTI_FORTRAN(iexscan, IEXSCAN, Forward{MPI_Iexscan}, 7)

}  // namespace tutti::interpose::fortran
