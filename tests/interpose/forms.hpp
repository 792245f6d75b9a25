#pragma once
// The collectives whose tests run in several forms (the folders small, large, waited, started). Where a form makes a
// call in several steps, FORM(MPI_Bcast) is what TUTTI_TEST_FORM(Bcast, Ibcast) says, and FORM(PMPI_Bcast) is MPI's
// blocking call.

#define FORM(name) TUTTI_TEST_##name
#define TUTTI_TEST_MPI_Bcast TUTTI_TEST_FORM(Bcast, Ibcast)
#define TUTTI_TEST_MPI_Reduce TUTTI_TEST_FORM(Reduce, Ireduce)
#define TUTTI_TEST_MPI_Allreduce TUTTI_TEST_FORM(Allreduce, Iallreduce)
#define TUTTI_TEST_MPI_Scan TUTTI_TEST_FORM(Scan, Iscan)
#define TUTTI_TEST_MPI_Exscan TUTTI_TEST_FORM(Exscan, Iexscan)
#define TUTTI_TEST_MPI_Reduce_scatter TUTTI_TEST_FORM(Reduce_scatter, Ireduce_scatter)
#define TUTTI_TEST_MPI_Reduce_scatter_block TUTTI_TEST_FORM(Reduce_scatter_block, Ireduce_scatter_block)
#define TUTTI_TEST_MPI_Allgather TUTTI_TEST_FORM(Allgather, Iallgather)
#define TUTTI_TEST_MPI_Allgatherv TUTTI_TEST_FORM(Allgatherv, Iallgatherv)
#define TUTTI_TEST_MPI_Gather TUTTI_TEST_FORM(Gather, Igather)
#define TUTTI_TEST_MPI_Gatherv TUTTI_TEST_FORM(Gatherv, Igatherv)
#define TUTTI_TEST_MPI_Scatter TUTTI_TEST_FORM(Scatter, Iscatter)
#define TUTTI_TEST_MPI_Scatterv TUTTI_TEST_FORM(Scatterv, Iscatterv)
#define TUTTI_TEST_MPI_Alltoall TUTTI_TEST_FORM(Alltoall, Ialltoall)
#define TUTTI_TEST_MPI_Alltoallv TUTTI_TEST_FORM(Alltoallv, Ialltoallv)
#define TUTTI_TEST_MPI_Alltoallw TUTTI_TEST_FORM(Alltoallw, Ialltoallw)
#define TUTTI_TEST_PMPI_Bcast PMPI_Bcast
#define TUTTI_TEST_PMPI_Reduce PMPI_Reduce
#define TUTTI_TEST_PMPI_Allreduce PMPI_Allreduce
#define TUTTI_TEST_PMPI_Scan PMPI_Scan
#define TUTTI_TEST_PMPI_Exscan PMPI_Exscan
#define TUTTI_TEST_PMPI_Reduce_scatter PMPI_Reduce_scatter
#define TUTTI_TEST_PMPI_Reduce_scatter_block PMPI_Reduce_scatter_block
#define TUTTI_TEST_PMPI_Allgather PMPI_Allgather
#define TUTTI_TEST_PMPI_Allgatherv PMPI_Allgatherv
#define TUTTI_TEST_PMPI_Gather PMPI_Gather
#define TUTTI_TEST_PMPI_Gatherv PMPI_Gatherv
#define TUTTI_TEST_PMPI_Scatter PMPI_Scatter
#define TUTTI_TEST_PMPI_Scatterv PMPI_Scatterv
#define TUTTI_TEST_PMPI_Alltoall PMPI_Alltoall
#define TUTTI_TEST_PMPI_Alltoallv PMPI_Alltoallv
#define TUTTI_TEST_PMPI_Alltoallw PMPI_Alltoallw
