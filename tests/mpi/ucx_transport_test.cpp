// Messages over UCX: that they take this transport and arrive, at any size and in any order, and how calls end when
// they do not.
#include <fmt/format.h>

#include <array>
#include <numeric>

#include "tests/shm/shm_flights.hpp"

namespace tutti::test {
namespace {

const CommunicatorOptions over_ucx{.transport = "ucx"};

struct Totals {
  std::uint64_t sent = 0, received = 0, elsewhere = 0;
};

/// Messages that all ranks have posted.
Totals totals_of(const Communicator& comm) {
  const MessageCounters mine = comm.message_counters();
  std::array<std::uint64_t, 3> all{mine.network.sent, mine.network.received,
                                   mine.shm.sent + mine.shm.received + mine.mpi.sent + mine.mpi.received};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {all[0], all[1], all[2]};
}

class Ucx : public testing::TestWithParam<Collective> {};

TEST_P(Ucx, CarriesEveryAlgorithm) {
  const Communicator comm{MPI_COMM_WORLD, over_ucx};
  Totals before = totals_of(comm);
  for (const std::string& algorithm : choices_of(GetParam()))
    for (const std::int64_t count : {1, 300, 5'000}) {
      Trial trial{.collective = GetParam(), .algorithm = algorithm, .count = count};
      if (has_root(GetParam())) trial.root = world_size() - 1;
      expect_right<std::int64_t>(trial, Op::sum, comm);
      const Totals now = totals_of(comm);
      const std::string what = describe(trial, Op::sum, Type::int64);
      EXPECT_EQ(now.sent > before.sent, world_size() > 1) << what;
      EXPECT_EQ(now.sent, now.received) << what;
      EXPECT_EQ(now.elsewhere, 0) << what;
      before = now;
    }
}

// UCX changes protocols between these sizes.
TEST_P(Ucx, CarriesAllSizes) {
  const Communicator comm{MPI_COMM_WORLD, over_ucx};
  for (const std::int64_t bytes : {0, 1, 63, 64, 65, 1'024, 8'180, 8'200, 65'535, 262'145, 3'000'001})
    expect_right<std::uint8_t>({.collective = GetParam(), .count = bytes}, Op::max, comm);
}

INSTANTIATE_TEST_SUITE_P(Collectives, Ucx, testing::ValuesIn(all_collectives()),
                         [](const auto& collective) { return std::string{to_string(collective.param)}; });

TEST(UcxOperations, ManyAtOnceWaitedForInReverse) {
  constexpr int many = 40;
  const std::array<Communicator, 2> comms{Communicator{MPI_COMM_WORLD, over_ucx},
                                          Communicator{MPI_COMM_WORLD, over_ucx}};
  for (int round = 0; round < 3; ++round) {
    std::array<Flights, 2> flights;
    for (std::size_t c = 0; c < 2; ++c)
      for (int i = 0; i < many; ++i)
        flights[c].push_back(std::make_unique<Flight>(different_trial(i * 5 + round + static_cast<int>(c)), comms[c]));
    const std::size_t first = static_cast<std::size_t>(world_rank()) % 2;  // ranks start them in other orders
    for (const std::size_t c : {first, 1 - first})
      for (const auto& flight : flights[c])
        flight->start();
    for (const std::size_t c : {1 - first, first})
      for (auto flight = flights[c].rbegin(); flight != flights[c].rend(); ++flight)
        (*flight)->finish();
  }
}

TEST(UcxOperations, OfBatchesKeepTheirOrder) {
  const Communicator comm{MPI_COMM_WORLD, over_ucx};
  const int rank = world_rank(), size = world_size();
  const Rank next{(rank + 1) % size}, before{(rank + size - 1) % size};
  constexpr std::array<std::size_t, 9> counts{0, 1, 70'000, 2, 1'100, 0, 3, 9'000, 4};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<std::int64_t>> sent, received;
    Batch batch{comm};
    for (const std::size_t count : counts) {
      sent.push_back(addends(count, rank, static_cast<std::int64_t>(count) + round));
      received.emplace_back(count);
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      batch.send(std::span{std::as_const(sent[i])}, next);
      batch.recv(std::span{received[i]}, before);
    }
    batch.run();
    for (std::size_t i = 0; i < counts.size(); ++i)
      EXPECT_EQ(received[i], addends(counts[i], before.value(), static_cast<std::int64_t>(counts[i]) + round));
  }
  EXPECT_EQ(totals_of(comm).elsewhere, 0);
}

/// A rank that has left the library does not move UCX: its messages have to be gone by then.
TEST(UcxOperations, NeedNothingOfWhoHasLeft) {
  const Communicator comm{MPI_COMM_WORLD, over_ucx};
  std::vector<std::int64_t> data(1'000);
  constexpr int many = 3'000;
  for (int i = 0; i < many; ++i) {
    if (comm.rank() == Rank{0}) data = addends(data.size(), 0, i);
    broadcast(std::span{data}, Rank{0}, comm);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(data, addends(data.size(), 0, many - 1));
}

TEST(UcxCommunicators, OfPartsAndInAnotherOrder) {
  MPI_Comm reversed = MPI_COMM_NULL, part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);
  const Communicator half{part, over_ucx}, all{MPI_COMM_WORLD, over_ucx}, back{reversed, over_ucx};
  for (int number = 0; number < 24; ++number) {
    Trial of_half = different_trial(number);
    of_half.root %= half.size();
    Flight a{different_trial(number), all}, b{different_trial(number + 5), back, reversed}, c{of_half, half, part};
    a.start();
    b.start();
    c.start();
    c.finish();
    b.finish();
    a.finish();
  }
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&part);
}

TEST(UcxCommunicators, ManyOneAfterAnother) {
  for (int again = 0; again < 200; ++again) {
    Communicator comm{MPI_COMM_WORLD, over_ucx};
    std::vector<std::int64_t> data = addends(static_cast<std::size_t>(again), world_rank(), again);
    Request request = allreduce_async(std::span{data}, Op::sum, comm);
    if (again % 3 == 0) comm.close();  // completes it
    request.wait();
    EXPECT_TRUE(is_sum(data, world_size(), again));
  }
}

TEST(UcxTransport, MayBeMixedWithSharedMemory) {
  const Communicator comm{MPI_COMM_WORLD, {.transport = "shm+ucx"}};
  expect_works(comm);
  const MessageCounters counters = comm.message_counters();
  EXPECT_EQ(counters.mpi.sent + counters.mpi.received, 0);
  EXPECT_EQ(counters.network.sent > 0, comm.node_count() > 1);
  EXPECT_EQ(counters.shm.sent > 0, comm.node().size() > 1);
}

TEST(UcxTransport, IsExplained) {
  const Communicator comm{MPI_COMM_WORLD, over_ucx};
  std::vector<float> data(100);
  const std::string text = plan_allreduce(std::span{data}, Op::sum, comm).explain();
  EXPECT_EQ(text.find("messages go over ucx") != std::string::npos, world_size() > 1) << text;
}

/// A failed operation leaves messages behind: receives are withdrawn, and neither later calls nor the end suffer.
TEST(UcxErrors, NameTheRankAndBothCalls) {
  if (world_size() != 2) GTEST_SKIP() << "where both ranks find out";
  for (const std::size_t count : {5, 500, 50'000}) {
    const Communicator comm{MPI_COMM_WORLD, {.algorithms = "allreduce=recursive_doubling", .transport = "ucx"}};
    const std::size_t mine = count + static_cast<std::size_t>(world_rank());
    std::vector<std::int64_t> data(mine);
    expect_throw<MismatchError>(
        [&] { allreduce(std::span{data}, Op::sum, comm); },
        {"allreduce", "on rank " + std::to_string(world_rank()), "of " + std::to_string(count) + " int64",
         "of " + std::to_string(count + 1) + " int64"});
    expect_throw<Error>([&] { allreduce(std::span{data}, Op::sum, comm); }, {"unusable"});
  }
  expect_works(Communicator{MPI_COMM_WORLD, over_ucx});
}

}  // namespace
}  // namespace tutti::test
