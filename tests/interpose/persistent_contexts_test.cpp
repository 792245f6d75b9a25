// More persistent calls at once than Tutti has contexts for: those are left to MPI, and stand beside the others. With
// TUTTI_TEST_TAG_UB=32767 there are 1,024.
#include <gtest/gtest.h>

#include <vector>

#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

void make_start_and_free(int calls) {
  const auto count = static_cast<std::size_t>(calls);
  std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
  std::vector<int> ranks(count, rank_in()), sums(count, -1);
  for (std::size_t i = 0; i < requests.size(); ++i)
    ASSERT_EQ(MPI_Allreduce_init(&ranks[i], &sums[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[i]),
              MPI_SUCCESS);
  MPI_Startall(calls, requests.data());
  MPI_Waitall(calls, requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_EQ(sums, std::vector<int>(count, sum_of_ranks(size_of())));
  for (MPI_Request& request : requests)
    MPI_Request_free(&request);
}

TEST(PersistentContexts, RunOutAndComeBack) {
  make_start_and_free(1'100);
  make_start_and_free(1'000);  // no more than there are: MPICH 4.0 never completes its own ones then
}

}  // namespace
}  // namespace tutti::test
