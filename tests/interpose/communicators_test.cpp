// Communicators of every kind, made and freed at will.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/interpose/works.hpp"

namespace tutti::test {
namespace {

TEST(Communicators, OfAllKinds) {
  EXPECT_TRUE(works(MPI_COMM_WORLD));
  EXPECT_TRUE(works(MPI_COMM_SELF));
  MPI_Comm copy = MPI_COMM_NULL, half = MPI_COMM_NULL, reversed = MPI_COMM_NULL, node = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_split(copy, rank_in() % 2, 0, &half);
  MPI_Comm_split(half, 0, -rank_in(), &reversed);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  for (MPI_Comm* const comm : {&reversed, &copy, &node, &half}) {
    EXPECT_TRUE(works(*comm));
    MPI_Comm_free(comm);
  }
}

TEST(Communicators, OfAGroupThatOnlyItsMembersMake) {
  const std::vector<int> last{size_of() - 1};
  MPI_Group world = MPI_GROUP_NULL, others = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_excl(world, 1, last.data(), &others);
  if (rank_in() < size_of() - 1) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, others, 7, &comm);
    EXPECT_TRUE(works(comm));
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&others);
  MPI_Group_free(&world);
}

TEST(Communicators, WithATopology) {
  const int size = size_of(), periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 1, &ring);
  EXPECT_TRUE(works(ring));
  const int rank = rank_in(ring);
  int neighbours[2] = {-1, -1};
  MPI_Neighbor_allgather(&rank, 1, MPI_INT, neighbours, 1, MPI_INT, ring);
  EXPECT_EQ(neighbours[1], (rank + 1) % size);
  MPI_Comm_free(&ring);
}

/// Served calls know nothing of the two groups: MPI does.
TEST(Communicators, BetweenTwoGroups) {
  if (size_of() < 2) GTEST_SKIP() << "two groups need two ranks";
  const bool is_low = rank_in() < size_of() / 2;
  MPI_Comm half = MPI_COMM_NULL, between = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, is_low ? 0 : 1, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? size_of() / 2 : 0, 3, &between);
  const int value = is_low ? 1 : 100;
  int sum = 0, remote = 0;
  MPI_Comm_remote_size(between, &remote);
  MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between);
  EXPECT_EQ(sum, (is_low ? 100 : 1) * remote);
  MPI_Barrier(between);
  int data = is_low && rank_in() == 0 ? 5 : 0;
  MPI_Bcast(&data, 1, MPI_INT, !is_low ? 0 : rank_in() == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
  EXPECT_EQ(data, !is_low || rank_in() == 0 ? 5 : 0);
  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(between, is_low ? 0 : 1, &merged);
  EXPECT_TRUE(works(merged));
  for (MPI_Comm* const comm : {&merged, &between, &half})
    MPI_Comm_free(comm);
}

/// MPI gives a freed handle to the next communicator, which may have other ranks.
TEST(Communicators, HandlesAreUsedAgain) {
  std::set<MPI_Comm> handles;
  constexpr int times = 200;
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, (rank_in() >> (i % 3)) % 2, i % 2 == 0 ? rank_in() : -rank_in(), &comm);
    handles.insert(comm);
    ASSERT_TRUE(works(comm)) << "communicator " << i;
    MPI_Comm_free(&comm);
  }
  EXPECT_LT(handles.size(), std::size_t{times}) << "this MPI does not: the test shows nothing";
}

}  // namespace
}  // namespace tutti::test
