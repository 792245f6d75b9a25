// How many receives wait in the MPI at a time: counted by wrapping the PMPI functions that the
// library calls.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <vector>

#include "lib/core/plan/compiled_plan.hpp"
#include "tests/mpi/collective_cases.hpp"

namespace {

/// Receives that were posted and are not over, by the peer.
struct Posted {
  std::map<MPI_Request, int> peers{};
  std::map<int, int> of_peer{};
  int most_of_peer = 0;
};
Posted& posted() {
  static Posted all;
  return all;
}

void end(MPI_Request request) {
  const auto found = posted().peers.find(request);
  if (found == posted().peers.end()) return;
  --posted().of_peer[found->second];
  posted().peers.erase(found);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the linker's names for functions that it wraps
extern "C" {

extern decltype(PMPI_Irecv) __real_PMPI_Irecv;
extern decltype(PMPI_Test) __real_PMPI_Test;
extern decltype(PMPI_Testsome) __real_PMPI_Testsome;

int __wrap_PMPI_Irecv(void* data, int elements, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Request* request) {
  const int code = __real_PMPI_Irecv(data, elements, type, from, tag, comm, request);
  posted().peers[*request] = from;
  posted().most_of_peer = std::max(posted().most_of_peer, ++posted().of_peer[from]);
  return code;
}
int __wrap_PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = __real_PMPI_Test(request, flag, status);
  if (*flag != 0) end(before);
  return code;
}
int __wrap_PMPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const std::vector<MPI_Request> before(requests, requests + incount);
  const int code = __real_PMPI_Testsome(incount, requests, outcount, indices, statuses);
  for (int i = 0; i < *outcount; ++i)
    end(before[static_cast<std::size_t>(indices[i])]);
  return code;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

namespace tutti::test {
namespace {

TEST(PostedReceives, AreFewHoweverManySegmentsThereAre) {
  const Communicator comm{MPI_COMM_WORLD, {.transport = "mpi"}};
  for (const auto& [collective, algorithm] : {std::pair{Collective::alltoall, "pairwise/1"},
                                              {Collective::alltoall, "linear/1"},
                                              {Collective::allgather, "ring/1"},
                                              {Collective::allreduce, "ring/1"},
                                              {Collective::broadcast, "chain/1"},
                                              {Collective::reduce, "knomial/1"}}) {
    posted() = {};
    expect_right<std::int32_t>({.collective = collective, .algorithm = algorithm, .count = 3000}, Op::sum, comm);
    const int most = posted().most_of_peer;
    EXPECT_LE(most, Routing::most_window) << to_string(collective) << ' ' << algorithm;
    EXPECT_TRUE(posted().peers.empty()) << to_string(collective) << ' ' << algorithm;
    const bool receives = world_size() > 1 && (collective != Collective::broadcast || world_rank() > 0);
    if (receives && collective != Collective::reduce) {
      EXPECT_GT(most, 1) << "they are not posted one by one";
    }
  }
}

}  // namespace
}  // namespace tutti::test
