// The cost of making a communicator: the collective calls of MPI, counted by wrapping the PMPI functions that the
// library calls.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/mpi_support.hpp"

namespace {

/// Calls and the bytes that each rank gives, by name.
struct Calls {
  int calls = 0;
  long bytes = 0;
};
std::map<std::string, Calls>& counted() {
  static std::map<std::string, Calls> all;
  return all;
}

void count(const char* name, int elements, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  auto& [calls, bytes] = counted()[name];
  ++calls;
  bytes += long{elements} * size;
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names for functions that it wraps
extern "C" {

extern decltype(PMPI_Bcast) __real_PMPI_Bcast;
extern decltype(PMPI_Allreduce) __real_PMPI_Allreduce;
extern decltype(PMPI_Iallreduce) __real_PMPI_Iallreduce;
extern decltype(PMPI_Reduce) __real_PMPI_Reduce;
extern decltype(PMPI_Allgather) __real_PMPI_Allgather;
extern decltype(PMPI_Barrier) __real_PMPI_Barrier;
extern decltype(PMPI_Comm_dup) __real_PMPI_Comm_dup;
extern decltype(PMPI_Comm_split) __real_PMPI_Comm_split;
extern decltype(PMPI_Comm_split_type) __real_PMPI_Comm_split_type;
extern decltype(PMPI_Comm_create) __real_PMPI_Comm_create;
extern decltype(PMPI_Send) __real_PMPI_Send;
extern decltype(PMPI_Isend) __real_PMPI_Isend;
extern decltype(PMPI_Alltoall) __real_PMPI_Alltoall;
extern decltype(PMPI_Gather) __real_PMPI_Gather;

int __wrap_PMPI_Bcast(void* data, int elements, MPI_Datatype type, int root, MPI_Comm comm) {
  count("broadcast", elements, type);
  return __real_PMPI_Bcast(data, elements, type, root, comm);
}
int __wrap_PMPI_Allreduce(const void* in, void* out, int elements, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count("allreduce", elements, type);
  return __real_PMPI_Allreduce(in, out, elements, type, op, comm);
}
int __wrap_PMPI_Iallreduce(const void* in, void* out, int elements, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                           MPI_Request* request) {
  count("allreduce", elements, type);
  return __real_PMPI_Iallreduce(in, out, elements, type, op, comm, request);
}
int __wrap_PMPI_Reduce(const void* in, void* out, int elements, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  count("reduce", elements, type);
  return __real_PMPI_Reduce(in, out, elements, type, op, root, comm);
}
int __wrap_PMPI_Allgather(const void* in, int sent, MPI_Datatype type, void* out, int each, MPI_Datatype of,
                          MPI_Comm comm) {
  count("allgather", sent, type);
  return __real_PMPI_Allgather(in, sent, type, out, each, of, comm);
}
int __wrap_PMPI_Barrier(MPI_Comm comm) {
  count("barrier", 0, MPI_BYTE);
  return __real_PMPI_Barrier(comm);
}
int __wrap_PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  count("duplicate", 0, MPI_BYTE);
  return __real_PMPI_Comm_dup(comm, made);
}
int __wrap_PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  count("split", 0, MPI_BYTE);
  return __real_PMPI_Comm_split(comm, color, key, made);
}
int __wrap_PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  count("split", 0, MPI_BYTE);
  return __real_PMPI_Comm_split_type(comm, type, key, info, made);
}
int __wrap_PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  count("create", 0, MPI_BYTE);
  return __real_PMPI_Comm_create(comm, group, made);
}
// All other calls that send: none of them is expected.
int __wrap_PMPI_Send(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  count("send", elements, type);
  return __real_PMPI_Send(data, elements, type, to, tag, comm);
}
int __wrap_PMPI_Isend(const void* data, int elements, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  count("send", elements, type);
  return __real_PMPI_Isend(data, elements, type, to, tag, comm, request);
}
int __wrap_PMPI_Alltoall(const void* in, int sent, MPI_Datatype type, void* out, int each, MPI_Datatype of,
                         MPI_Comm comm) {
  count("alltoall", sent, type);
  return __real_PMPI_Alltoall(in, sent, type, out, each, of, comm);
}
int __wrap_PMPI_Gather(const void* in, int sent, MPI_Datatype type, void* out, int each, MPI_Datatype of, int root,
                       MPI_Comm comm) {
  count("gather", sent, type);
  return __real_PMPI_Gather(in, sent, type, out, each, of, root, comm);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

namespace tutti::test {
namespace {

/// "allreduce 3, broadcast 1", and the bytes.
struct Costs {
  std::string calls;
  long bytes = 0;
};

template <class Work>
Costs costs_of(Work work) {
  counted().clear();
  work();
  Costs costs;
  for (const auto& [name, count] : counted()) {
    costs.calls += (costs.calls.empty() ? "" : ", ") + name + " " + std::to_string(count.calls);
    costs.bytes += count.bytes;
  }
  return costs;
}

// It duplicates the world, which all others use.
const Communicator& first() {
  static const Communicator comm{MPI_COMM_WORLD};
  return comm;
}

// The figures of docs/architecture.md. The node's ranks attach to its memory 64 at a time.
TEST(CommunicatorCost, TheFirstFindsNodesToo) {
  const Costs costs = costs_of([] { first(); });
  if (first().node_count() > 1) GTEST_SKIP() << "counted for one node";
  EXPECT_EQ(costs.calls, world_size() == 1
                             ? "allgather 3, allreduce 6, broadcast 5, create 1, split 1"
                             : "allgather 3, allreduce 6, barrier 1, broadcast 5, create 1, reduce 1, split 1");
}

TEST(CommunicatorCost, OneMoreOfTheWorldTakesFourCollectiveCalls) {
  first();
  std::vector<Communicator> made;
  const Costs costs = costs_of([&] { made.emplace_back(MPI_COMM_WORLD); });
  EXPECT_EQ(costs.calls, "allreduce 3, broadcast 1");
  EXPECT_LE(costs.bytes, 2560);
  expect_works(made.back());
}

TEST(CommunicatorCost, OneOfAPartTakesAsMany) {
  first();
  MPI_Comm part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &part);
  std::vector<Communicator> made;
  const Costs costs = costs_of([&] { made.emplace_back(part); });
  EXPECT_EQ(costs.calls, "allreduce 3, broadcast 1");
  expect_works(made.back());
  made.clear();
  MPI_Comm_free(&part);
}

TEST(CommunicatorCost, WithoutSharedMemoryItTakesAsMany) {
  first();
  std::vector<Communicator> made;
  const Costs costs = costs_of([&] { made.emplace_back(MPI_COMM_WORLD, CommunicatorOptions{.transport = "mpi"}); });
  EXPECT_EQ(costs.calls, "allreduce 3, broadcast 1");
  expect_works(made.back());
}

TEST(CommunicatorCost, ClosingOneTakesNone) {
  first();
  Communicator comm{MPI_COMM_WORLD};
  EXPECT_EQ(costs_of([&] { comm.close(); }).calls, "");
}

}  // namespace
}  // namespace tutti::test
