// A program that interposes on MPI: it exports MPI_ functions, which count and pass on to those of PMPI_. It sees the
// program's calls, and none of the library's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <vector>

#include "tests/support/mpi_support.hpp"

namespace {

/// Calls of the interposed functions since it was last cleared.
std::map<std::string_view, int>& calls() {
  static std::map<std::string_view, int> counts;
  return counts;
}

}  // namespace

#define INTERPOSE(name, parameters, arguments) \
  extern "C" int name parameters {             \
    ++calls()[#name];                          \
    return P##name arguments;                  \
  }

INTERPOSE(MPI_Comm_rank, (MPI_Comm comm, int* rank), (comm, rank))
INTERPOSE(MPI_Comm_size, (MPI_Comm comm, int* size), (comm, size))
INTERPOSE(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* copy), (comm, copy))
INTERPOSE(MPI_Comm_free, (MPI_Comm * comm), (comm))
INTERPOSE(MPI_Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part),
          (comm, type, key, info, part))
INTERPOSE(MPI_Barrier, (MPI_Comm comm), (comm))
INTERPOSE(MPI_Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm),
          (data, count, type, root, comm))
INTERPOSE(MPI_Reduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
          (in, out, count, type, op, root, comm))
INTERPOSE(MPI_Allreduce, (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
          (in, out, count, type, op, comm))
INTERPOSE(MPI_Allgather,
          (const void* in, int count, MPI_Datatype type, void* out, int part, MPI_Datatype part_type, MPI_Comm comm),
          (in, count, type, out, part, part_type, comm))
INTERPOSE(MPI_Ibcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
          (data, count, type, root, comm, request))
INTERPOSE(MPI_Iallreduce,
          (const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
          (in, out, count, type, op, comm, request))
INTERPOSE(MPI_Isend,
          (const void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request),
          (data, count, type, peer, tag, comm, request))
INTERPOSE(MPI_Irecv, (void* data, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm, MPI_Request* request),
          (data, count, type, peer, tag, comm, request))
INTERPOSE(MPI_Iprobe, (int peer, int tag, MPI_Comm comm, int* found, MPI_Status* status),
          (peer, tag, comm, found, status))
INTERPOSE(MPI_Test, (MPI_Request * request, int* done, MPI_Status* status), (request, done, status))
INTERPOSE(MPI_Testsome, (int count, MPI_Request* requests, int* done, int* which, MPI_Status* statuses),
          (count, requests, done, which, statuses))
INTERPOSE(MPI_Get_count, (const MPI_Status* status, MPI_Datatype type, int* count), (status, type, count))

namespace tutti::test {
namespace {

using testing::IsEmpty;

/// Over MPI and through shared memory, short and long.
void run_collectives() {
  for (const char* const transport : {"mpi", "auto"}) {
    const Communicator comm{MPI_COMM_WORLD, {.transport = transport}};
    for (const std::size_t count : {1, 1'000, 100'000}) {
      std::vector<std::int64_t> data = addends(count, comm.rank().value(), 3);
      allreduce(std::span{data}, Op::sum, comm);
      EXPECT_TRUE(is_sum(data, comm.size(), 3)) << count << " elements over " << transport;
    }
    barrier(comm);
  }
}

TEST(Interposer, SeesNoCallOfTheLibrary) {
  world_size();  // of the program's own calls, all but these are over
  calls().clear();
  run_collectives();
  EXPECT_THAT(calls(), IsEmpty());
}

TEST(Interposer, SeesTheProgram) {
  calls().clear();
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(calls()["MPI_Allreduce"], 1);
  EXPECT_EQ(calls()["MPI_Barrier"], 1);
}

}  // namespace
}  // namespace tutti::test
