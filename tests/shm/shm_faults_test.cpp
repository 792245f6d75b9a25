// Calls that once hung: each test is a fault that was found in the transport through shared memory.
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// The error that a call throws; empty: none.
template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

/// Each read of a published area is reported in a line that has room for a limited number.
TEST(SharedMemoryFaults, SameDataToOneRankManyTimes) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  constexpr int messages = 100, rounds = 6;
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<std::int32_t> data(1024, 7);
  std::vector<std::vector<std::int32_t>> arrived(messages, std::vector<std::int32_t>(data.size()));
  for (int round = 0; round < rounds; ++round) {
    Batch batch{comm};
    for (auto& into : arrived) {
      std::fill(into.begin(), into.end(), 0);
      if (world_rank() == 0) batch.send(data.data(), Count{1024}, Type::int32, Rank{1});
      if (world_rank() == 1) batch.recv(into.data(), Count{1024}, Type::int32, Rank{0});
    }
    batch.run();
    EXPECT_TRUE(world_rank() != 1 || arrived == std::vector(messages, data));
  }
}

/// A rank that finds out by a message names its bytes, or its kind of call. On a busy machine it may have waited for so
/// long that it compared the calls first.
bool tells(const std::string& error, std::string_view by_message) {
  return error.find(by_message) != std::string::npos || error.find(" called allreduce #0") != std::string::npos ||
         error.find(" called nonblocking allreduce #0") != std::string::npos;
}

/// One rank expects few messages in swapped slots, the other many in a ring.
TEST(SharedMemoryFaults, CountsThatDifferSoMuchThatSlotsDiffer) {
  if (world_size() != 2) GTEST_SKIP() << "others would wait for ranks that have failed";
  const auto differing = [](std::int64_t mine, std::int64_t others, bool tests) {
    const Communicator comm{MPI_COMM_WORLD};
    std::vector<float> data(static_cast<std::size_t>(world_rank() == 0 ? mine : others), 1.0F);
    return error_of([&] {
      Request request = allreduce_async(std::span{data}, Op::sum, comm);
      while (tests && !request.test()) {
      }
      request.wait();
    });
  };
  for (const bool tests : {false, true}) {
    EXPECT_PRED2(tells, differing(50, 1'000'000, tests), "bytes arrived where");
    EXPECT_PRED2(tells, differing(1'000, 100'000, tests), "bytes arrived where");
  }
}

/// Less data than expected arrive, or an area in place of lines, or lines in place of an area. This is reported before
/// the receiver waits for data that never come.
TEST(SharedMemoryFaults, MessagesOfOtherSizesThanExpected) {
  if (world_size() != 2) GTEST_SKIP() << "others would wait for ranks that have failed";
  for (const std::int64_t sent : {0, 40, 100, 240, 1000})
    for (const std::int64_t expected : {8, 41, 120, 256, 2000}) {
      const Communicator comm{MPI_COMM_WORLD};
      std::vector<std::byte> data(2000);
      const std::string error = error_of([&] {
        Batch batch{comm};
        if (world_rank() == 0) batch.send(data.data(), Count{sent}, Type::int8, Rank{1});
        if (world_rank() == 1) batch.recv(data.data(), Count{expected}, Type::int8, Rank{0});
        batch.run();
      });
      const std::string why = std::to_string(sent) + " bytes arrived where " + std::to_string(expected);
      EXPECT_EQ(error.find(why) != std::string::npos, world_rank() == 1) << why << ": " << error;
    }
}

TEST(SharedMemoryFaults, KindsOfCallsThatDiffer) {
  if (world_size() != 2) GTEST_SKIP() << "others would wait for ranks that have failed";
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<float> data(10, 1.0F);
  const std::string error = error_of([&] {
    if (world_rank() == 0)
      allreduce(std::span{data}, Op::sum, comm);
    else
      allreduce_async(std::span{data}, Op::sum, comm).wait();
  });
  EXPECT_PRED2(tells, error, "another kind of call");
}

/// Rank 0 has two plans for calls that the others make with one.
TEST(SharedMemoryFaults, RanksMayHaveDifferentlyManyPlans) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> first(10), second(10);
  Plan one = plan_allreduce(std::span{first}, Op::sum, comm);
  Plan other = plan_allreduce(std::span{second}, Op::sum, comm);
  for (int run = 0; run < 6; ++run) {
    const bool is_other = world_rank() == 0 && run % 2 == 1;
    std::vector<std::int64_t>& data = is_other ? second : first;
    fill_addends(data, world_rank(), run);
    Plan& plan = is_other ? other : one;
    plan.start();
    plan.wait();
    EXPECT_TRUE(is_sum(data, world_size(), run));
  }
}

/// A communicator that is closed with operations under way completes them; meanwhile the program's own message leaves.
TEST(SharedMemoryFaults, ClosingMovesTheProgramsOwnMessages) {
  if (world_size() < 2) GTEST_SKIP() << "needs two ranks";
  constexpr int large = 8 << 20;
  std::vector<char> data(large, static_cast<char>(world_rank() + 1));
  std::vector<std::int64_t> sum = addends(10, world_rank(), 1);
  MPI_Request send = MPI_REQUEST_NULL;
  Communicator comm{MPI_COMM_WORLD};
  if (world_rank() == 0) MPI_Isend(data.data(), large, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &send);
  if (world_rank() == 1) MPI_Recv(data.data(), large, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const Request request = allreduce_async(std::span{sum}, Op::sum, comm);
  comm.close();
  EXPECT_TRUE(is_sum(sum, world_size(), 1));
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  EXPECT_TRUE(world_rank() > 1 || data == std::vector<char>(large, 1));
}

}  // namespace
}  // namespace tutti::test
