#pragma once
// Tests of persistent collectives (MPI 4): each is made, started, waited for and freed. MPI's own are the blocking
// ones.
#include <mpi.h>
using N = int;
using D = int;

namespace tutti::test {

template <auto make, class Blocking>
struct Started;
template <auto make, class... Arguments>
struct Started<make, int(Arguments...)> {
  static int call(Arguments... arguments) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = make(arguments..., MPI_INFO_NULL, &request);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Start(&request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return code;
  }
};

}  // namespace tutti::test

#define FORM(name) TUTTI_TEST_##name
#define TUTTI_TEST_MPI_Bcast Started<&MPI_Bcast_init, decltype(MPI_Bcast)>::call
#define TUTTI_TEST_MPI_Reduce Started<&MPI_Reduce_init, decltype(MPI_Reduce)>::call
#define TUTTI_TEST_MPI_Allreduce Started<&MPI_Allreduce_init, decltype(MPI_Allreduce)>::call
#define TUTTI_TEST_MPI_Scan Started<&MPI_Scan_init, decltype(MPI_Scan)>::call
#define TUTTI_TEST_MPI_Exscan Started<&MPI_Exscan_init, decltype(MPI_Exscan)>::call
#define TUTTI_TEST_MPI_Reduce_scatter Started<&MPI_Reduce_scatter_init, decltype(MPI_Reduce_scatter)>::call
#define TUTTI_TEST_MPI_Reduce_scatter_block \
  Started<&MPI_Reduce_scatter_block_init, decltype(MPI_Reduce_scatter_block)>::call
#define TUTTI_TEST_MPI_Allgather Started<&MPI_Allgather_init, decltype(MPI_Allgather)>::call
#define TUTTI_TEST_MPI_Allgatherv Started<&MPI_Allgatherv_init, decltype(MPI_Allgatherv)>::call
#define TUTTI_TEST_MPI_Gather Started<&MPI_Gather_init, decltype(MPI_Gather)>::call
#define TUTTI_TEST_MPI_Gatherv Started<&MPI_Gatherv_init, decltype(MPI_Gatherv)>::call
#define TUTTI_TEST_MPI_Scatter Started<&MPI_Scatter_init, decltype(MPI_Scatter)>::call
#define TUTTI_TEST_MPI_Scatterv Started<&MPI_Scatterv_init, decltype(MPI_Scatterv)>::call
#define TUTTI_TEST_MPI_Alltoall Started<&MPI_Alltoall_init, decltype(MPI_Alltoall)>::call
#define TUTTI_TEST_MPI_Alltoallv Started<&MPI_Alltoallv_init, decltype(MPI_Alltoallv)>::call
#define TUTTI_TEST_MPI_Alltoallw Started<&MPI_Alltoallw_init, decltype(MPI_Alltoallw)>::call
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
