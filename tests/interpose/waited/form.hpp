#pragma once
// Tests of nonblocking collectives: each is started and waited for. MPI's own are the blocking ones.
#include <mpi.h>
using N = int;
using D = int;

namespace tutti::test {

template <auto start, class Blocking>
struct Waited;
template <auto start, class... Arguments>
struct Waited<start, int(Arguments...)> {
  static int call(Arguments... arguments) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = start(arguments..., &request);
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
  }
};

}  // namespace tutti::test

#define FORM(name) TUTTI_TEST_##name
#define TUTTI_TEST_MPI_Bcast Waited<&MPI_Ibcast, decltype(MPI_Bcast)>::call
#define TUTTI_TEST_MPI_Reduce Waited<&MPI_Ireduce, decltype(MPI_Reduce)>::call
#define TUTTI_TEST_MPI_Allreduce Waited<&MPI_Iallreduce, decltype(MPI_Allreduce)>::call
#define TUTTI_TEST_MPI_Scan Waited<&MPI_Iscan, decltype(MPI_Scan)>::call
#define TUTTI_TEST_MPI_Exscan Waited<&MPI_Iexscan, decltype(MPI_Exscan)>::call
#define TUTTI_TEST_MPI_Reduce_scatter Waited<&MPI_Ireduce_scatter, decltype(MPI_Reduce_scatter)>::call
#define TUTTI_TEST_MPI_Reduce_scatter_block Waited<&MPI_Ireduce_scatter_block, decltype(MPI_Reduce_scatter_block)>::call
#define TUTTI_TEST_MPI_Allgather Waited<&MPI_Iallgather, decltype(MPI_Allgather)>::call
#define TUTTI_TEST_MPI_Allgatherv Waited<&MPI_Iallgatherv, decltype(MPI_Allgatherv)>::call
#define TUTTI_TEST_MPI_Gather Waited<&MPI_Igather, decltype(MPI_Gather)>::call
#define TUTTI_TEST_MPI_Gatherv Waited<&MPI_Igatherv, decltype(MPI_Gatherv)>::call
#define TUTTI_TEST_MPI_Scatter Waited<&MPI_Iscatter, decltype(MPI_Scatter)>::call
#define TUTTI_TEST_MPI_Scatterv Waited<&MPI_Iscatterv, decltype(MPI_Scatterv)>::call
#define TUTTI_TEST_MPI_Alltoall Waited<&MPI_Ialltoall, decltype(MPI_Alltoall)>::call
#define TUTTI_TEST_MPI_Alltoallv Waited<&MPI_Ialltoallv, decltype(MPI_Alltoallv)>::call
#define TUTTI_TEST_MPI_Alltoallw Waited<&MPI_Ialltoallw, decltype(MPI_Alltoallw)>::call
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
