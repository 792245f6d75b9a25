// What one rank starts with MPI goes on while another one waits inside a served collective.
#include <gtest/gtest.h>

#include <vector>

#include "tests/interpose/world.hpp"

namespace tutti::test {
namespace {

constexpr int much = 1 << 20U, tag = 5;

class Progress : public testing::Test {
 protected:
  void SetUp() override {
    if (size_of() < 2) GTEST_SKIP() << "needs two ranks";
  }
};

/// The receiver is in the barrier when the sender, which is still outside, needs it.
TEST_F(Progress, OfMessagesToARankThatWaits) {
  for (int waiting = 0; waiting < size_of(); ++waiting)
    for (const int count : {1, much}) {
      const int sender = (waiting + 1) % size_of();
      std::vector<int> data(static_cast<std::size_t>(count), rank_in());
      MPI_Request request = MPI_REQUEST_NULL;
      if (rank_in() == waiting) MPI_Irecv(data.data(), count, MPI_INT, sender, tag, MPI_COMM_WORLD, &request);
      if (rank_in() == sender) MPI_Ssend(data.data(), count, MPI_INT, waiting, tag, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      EXPECT_EQ(data.back(), rank_in() == waiting ? sender : rank_in());
    }
}

/// The sender waits in a collective for the receiver, which first needs the data.
TEST_F(Progress, OfMessagesFromARankThatWaits) {
  for (int waiting = 0; waiting < size_of(); ++waiting) {
    const int receiver = (waiting + 1) % size_of();
    std::vector<int> data(much, rank_in());
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank_in() == waiting) MPI_Isend(data.data(), much, MPI_INT, receiver, tag, MPI_COMM_WORLD, &request);
    if (rank_in() == receiver) MPI_Recv(data.data(), much, MPI_INT, waiting, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int sum = 0;
    const int own = rank_in();
    MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT_EQ(sum, size_of() * (size_of() - 1) / 2);
    EXPECT_EQ(data.back(), rank_in() == receiver ? waiting : rank_in());
  }
}

/// One-sided calls on the memory of a rank that is in a barrier.
TEST_F(Progress, OfPassiveTargets) {
  std::vector<int> memory(1000, -1);
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_create(memory.data(), 4000, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in() == 1) {
    std::vector<int> values(1000, 17);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Put(values.data(), 1000, MPI_INT, 0, 0, 1000, MPI_INT, window);
    MPI_Win_unlock(0, window);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
    MPI_Accumulate(values.data(), 1000, MPI_INT, 0, 0, 1000, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(0, window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in() == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    EXPECT_EQ(memory, std::vector<int>(1000, 34));
    MPI_Win_unlock(0, window);
  }
  MPI_Win_free(&window);
}

/// Ranks pass collectives on two communicators in turns, which only works if waiting on one lets the other go on.
TEST_F(Progress, OfNonblockingCallsOfMpi) {
  MPI_Comm other = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> data(much, rank_in() == 0 ? 3 : 0);
  PMPI_Ibcast(data.data(), much, MPI_INT, 0, other, &request);
  if (rank_in() == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  EXPECT_EQ(data.back(), 3);
  MPI_Comm_free(&other);
}

}  // namespace
}  // namespace tutti::test
