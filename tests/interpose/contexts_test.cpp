// More communicators at once than Tutti has contexts for: those are left to MPI. With TUTTI_TEST_TAG_UB=32767 there are
// 1,024.
#include <gtest/gtest.h>

#include <vector>

#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

TEST(Contexts, RunOutAndComeBack) {
  std::vector<MPI_Comm> comms(1'100, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ASSERT_TRUE(works(comm));
  }
  for (MPI_Comm& comm : comms)
    MPI_Comm_free(&comm);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    ASSERT_TRUE(works(comm));
    MPI_Comm_free(&comm);
  }
}

}  // namespace
}  // namespace tutti::test
