// Programs that are right by the MPI standard, and that a library which waits for its own messages alone would stop.
#include <algorithm>
#include <thread>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr int large = 8 << 20;  // bytes: no MPI sends so many before the receiver has asked for them
constexpr int tag = 7, rounds = 20;

/// Elements of a collective: small and large messages, both ways that slots are reused.
constexpr std::size_t sizes[] = {1, 1'000, 100'000};

int last_rank() { return world_size() - 1; }

/// The last rank has asked for the message before it enters the collective; its sender enters afterwards.
template <class Collective>
void receive_during(Collective collective) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<char> sent(large), received(large);
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t count : sizes) {
      std::vector<std::int64_t> data = addends(count, world_rank(), round);
      MPI_Request receive = MPI_REQUEST_NULL;
      if (world_rank() == last_rank()) MPI_Irecv(received.data(), large, MPI_CHAR, 0, tag, MPI_COMM_WORLD, &receive);
      if (world_rank() == 0) {
        std::fill(sent.begin(), sent.end(), static_cast<char>(round));
        MPI_Send(sent.data(), large, MPI_CHAR, last_rank(), tag, MPI_COMM_WORLD);
      }
      collective(comm, data);
      EXPECT_TRUE(is_sum(data, world_size(), round));
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      const auto right = std::count(received.begin(), received.end(), static_cast<char>(round));
      EXPECT_TRUE(right == large || world_rank() != last_rank()) << right;
    }
  }
}

TEST(LargeSend, ArrivesWhileItsReceiverIsInACollective) {
  receive_during(
      [](const Communicator& comm, std::vector<std::int64_t>& data) { allreduce(std::span{data}, Op::sum, comm); });
}

TEST(LargeSend, ArrivesWhileItsReceiverWaitsForARequest) {
  receive_during([](const Communicator& comm, std::vector<std::int64_t>& data) {
    allreduce_async(std::span{data}, Op::sum, comm).wait();
  });
}

TEST(LargeSend, ArrivesWhileItsReceiverTestsARequest) {
  receive_during([](const Communicator& comm, std::vector<std::int64_t>& data) {
    Request request = allreduce_async(std::span{data}, Op::sum, comm);
    while (!request.test())
      std::this_thread::yield();
  });
}

TEST(LargeSend, ArrivesWhileItsReceiverRunsAPlan) {
  receive_during([](const Communicator& comm, std::vector<std::int64_t>& data) {
    Plan plan = plan_allreduce(std::span{data}, Op::sum, comm);
    plan.start();
    plan.wait();
  });
}

TEST(LargeSend, ArrivesWhileItsReceiverIsInABarrier) {
  receive_during([](const Communicator& comm, std::vector<std::int64_t>& data) {
    barrier(comm);
    allreduce(std::span{data}, Op::sum, comm);
  });
}

/// Rank 0 starts a reduce_scatter, and leaves the library to receive from the last rank, which sends once its own is
/// over: all that it waits for left when rank 0 started.
TEST(ReduceScatter, EndsThoughItsPeerIsInTheMpi) {
  constexpr std::size_t block = 20'000;  // 160,000 bytes, for which there is room
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> in(block * static_cast<std::size_t>(world_size())), out(block);
  Plan plan = plan_reduce_scatter(std::span{in}, std::span{out}, Op::sum, comm);
  const auto leave_for_the_mpi = [&](int round, auto wait) {
    if (world_rank() != 0) wait();
    if (world_size() > 1 && world_rank() == last_rank()) MPI_Send(&round, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
    int token = round;
    if (world_size() > 1 && world_rank() == 0)
      MPI_Recv(&token, 1, MPI_INT, last_rank(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(token, round);
    if (world_rank() == 0) wait();
    EXPECT_EQ(std::ranges::count(out, std::int64_t{world_size()} * round), block);
  };
  for (int round = 0; round < rounds; ++round) {
    std::ranges::fill(in, round);
    Request request = reduce_scatter_async(std::span{in}, std::span{out}, Op::sum, comm);
    leave_for_the_mpi(round, [&] { request.wait(); });
    plan.start();
    leave_for_the_mpi(round, [&] { plan.wait(); });
  }
}

/// The last rank starts a collective, and leaves the library to receive from rank 0, which sends once the collective
/// is over: only a thread of the library's own can move it forward.
TEST(ProgressThread, CompletesACollectiveWhoseStarterIsInTheMpi) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_MULTIPLE) GTEST_SKIP() << "this MPI provides less than MPI_THREAD_MULTIPLE";
  const char* const variable = std::getenv("TUTTI_PROGRESS_THREAD");
  if (variable == nullptr || std::string_view{variable} != "1") GTEST_SKIP() << "TUTTI_PROGRESS_THREAD is not 1";
  const Communicator comm{MPI_COMM_WORLD};
  for (int round = 0; round < rounds; ++round)
    for (const std::size_t count : sizes) {
      std::vector<std::int64_t> data = addends(count, world_rank(), round);
      Request request = allreduce_async(std::span{data}, Op::sum, comm);
      int token = -1;
      if (world_rank() != last_rank()) request.wait();
      if (world_size() > 1 && world_rank() == 0) MPI_Send(&round, 1, MPI_INT, last_rank(), tag, MPI_COMM_WORLD);
      if (world_size() > 1 && world_rank() == last_rank()) {
        MPI_Recv(&token, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_EQ(token, round);
      }
      request.wait();
      EXPECT_TRUE(is_sum(data, world_size(), round));
    }
}

/// Some ranks make a communicator before they wait, others afterwards: making one moves operations that others need.
TEST(MakingCommunicators, MovesOperations) {
  const Communicator comm{MPI_COMM_WORLD};
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::int64_t> data = addends(sizes[2], world_rank(), round);
    Request request = allreduce_async(std::span{data}, Op::sum, comm);
    std::vector<Communicator> made;
    const bool makes_first = (world_rank() + round) % 2 == 0;
    if (makes_first) made.emplace_back(MPI_COMM_WORLD);
    request.wait();
    if (!makes_first) made.emplace_back(MPI_COMM_WORLD);
    EXPECT_TRUE(is_sum(data, world_size(), round));
    expect_works(made.back());
  }
}

}  // namespace
}  // namespace tutti::test
