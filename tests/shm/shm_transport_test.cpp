// The transports that messages take, and that messages of any size, at any address and in any order arrive.
#include <fmt/format.h>

#include <array>

#include "tests/shm/shm_flights.hpp"

namespace tutti::test {
namespace {

/// Messages that all ranks have posted, by transport.
struct Totals {
  std::uint64_t shm_sent = 0, shm_received = 0, mpi_sent = 0, mpi_received = 0;
};

Totals totals_of(const Communicator& comm) {
  const MessageCounters mine = comm.message_counters();
  std::array<std::uint64_t, 4> all{mine.shm.sent, mine.shm.received, mine.mpi.sent, mine.mpi.received};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 4, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {all[0], all[1], all[2], all[3]};
}

enum class Expected : std::uint8_t { shm, mpi };

/// Every collective, small and large, travels as expected, and each message arrives.
void expect_all_travel(const Communicator& comm, Expected expected) {
  Totals before = totals_of(comm);
  for (const Collective collective : all_collectives())
    for (const std::string& algorithm : whole_choices_of(collective))
      for (const std::int64_t count : {3, 20'000}) {
        Trial trial{.collective = collective, .algorithm = algorithm, .count = count, .root = world_size() - 1};
        if (!has_root(collective)) trial.root = 0;
        expect_right<std::int64_t>(trial, Op::sum, comm);
        const Totals now = totals_of(comm);
        const std::string what = describe(trial, Op::sum, Type::int64);
        EXPECT_EQ(now.shm_sent, now.shm_received) << what;
        EXPECT_EQ(now.mpi_sent, now.mpi_received) << what;
        const std::uint64_t shm = now.shm_sent - before.shm_sent, mpi = now.mpi_sent - before.mpi_sent;
        EXPECT_EQ(expected == Expected::shm ? mpi : shm, 0) << what;
        EXPECT_EQ(shm + mpi > 0, world_size() > 1) << what;
        before = now;
      }
}

TEST(Transport, MayBeForcedByTheProgram) {
  expect_all_travel(Communicator{MPI_COMM_WORLD, {.transport = "shm"}}, Expected::shm);
  expect_all_travel(Communicator{MPI_COMM_WORLD, {.transport = "mpi"}}, Expected::mpi);
}

TEST(Transport, IsSharedMemoryInsideANode) { expect_all_travel(Communicator{MPI_COMM_WORLD}, Expected::shm); }

/// One allreduce tells which way a communicator's messages go.
void expect_travels(const CommunicatorOptions& options, Expected expected) {
  const Communicator comm{MPI_COMM_WORLD, options};
  expect_works(comm);
  const Totals all = totals_of(comm);
  EXPECT_EQ(expected == Expected::shm ? all.mpi_sent : all.shm_sent, 0);
  EXPECT_EQ((expected == Expected::shm ? all.shm_sent : all.mpi_sent) > 0, world_size() > 1);
}

TEST(Transport, MayBeForcedByTheEnvironment) {
  {
    const Setting setting{"TUTTI_TRANSPORT", "mpi"};
    expect_travels({}, Expected::mpi);
    expect_travels({.transport = "shm"}, Expected::shm);
    expect_travels({.transport = "auto"}, Expected::shm);
  }
  const Setting setting{"TUTTI_TRANSPORT", world_rank() == 0 ? "shm" : "mpi"};  // rank 0's counts
  expect_travels({}, Expected::shm);
  expect_travels({.transport = "mpi"}, Expected::mpi);
}

TEST(Transport, IsRefusedIfThereIsNoSuch) {
  for (const char* const bad : {"tcp", "SHM", "shm ", "shm,mpi"}) {
    const std::string given = fmt::format("'{}'", bad);
    expect_throw<ArgumentError>([&] { const Communicator comm(MPI_COMM_WORLD, {.transport = bad}); },
                                {"'transport'", given, "auto, shm, mpi"});
    const Setting setting{"TUTTI_TRANSPORT", bad};
    expect_throw<ArgumentError>([&] { const Communicator comm{MPI_COMM_WORLD}; },
                                {"TUTTI_TRANSPORT", given, "auto, shm, mpi"});
    expect_works(Communicator{MPI_COMM_WORLD, {.transport = "auto"}});
  }
  const Setting setting{"TUTTI_TRANSPORT", world_rank() == 0 ? "auto" : "nonsense"};  // only rank 0's counts
  expect_works(Communicator{MPI_COMM_WORLD});
}

constexpr std::array<std::int64_t, 12> edges{0, 1, 39, 40, 41, 255, 256, 257, 65535, 65536, 65537, 3 * 65536L + 5};

class SharedMemory : public testing::TestWithParam<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD, {.transport = "shm"}};
};

TEST_P(SharedMemory, CarriesAllSizes) {
  for (const std::int64_t bytes : edges)
    for (const int root : {0, world_size() - 1}) {
      if (!has_root(GetParam()) && root != 0) continue;
      expect_right<std::uint8_t>({.collective = GetParam(), .count = bytes, .root = root}, Op::max, comm_);
      expect_right<double>({.collective = GetParam(), .count = bytes / 8, .root = root}, Op::sum, comm_);
    }
}

TEST_P(SharedMemory, CarriesAllSizesOfEveryAlgorithm) {
  for (const std::string& algorithm : whole_choices_of(GetParam()))
    for (const std::int64_t bytes : {41, 256, 257, 65537, 3 * 65536 + 5})
      expect_right<std::int8_t>({.collective = GetParam(), .algorithm = algorithm, .count = bytes}, Op::min, comm_);
}

INSTANTIATE_TEST_SUITE_P(Collectives, SharedMemory, testing::ValuesIn(all_collectives()),
                         [](const auto& collective) { return std::string{to_string(collective.param)}; });

/// Buffers that begin anywhere in a cache line, elsewhere on every rank.
template <class T>
void expect_right_at(const Communicator& comm, std::size_t count, std::size_t at) {
  const int rank = comm.rank().value(), size = comm.size();
  constexpr std::size_t room = 64;
  const std::size_t begin = (at + 3 * static_cast<std::size_t>(rank)) % (room / sizeof(T));
  std::vector<T> in(count + 2 * room), out(in);
  for (std::size_t i = 0; i < count; ++i)
    in[begin + i] = static_cast<T>((i * 7 + static_cast<std::size_t>(rank)) % 15);
  allreduce(std::span{std::as_const(in)}.subspan(begin, count), std::span{out}.subspan(begin, count), Op::sum, comm);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    int expected = 0;
    for (int other = 0; other < size && i >= begin && i < begin + count; ++other)
      expected += static_cast<int>(((i - begin) * 7 + static_cast<std::size_t>(other)) % 15);
    wrong += out[i] == static_cast<T>(expected) ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0) << count << " elements of " << sizeof(T) << " bytes at " << begin;
  broadcast(std::span{in}.subspan(begin, count), Rank{size - 1}, comm);
  wrong = 0;
  for (std::size_t i = 0; i < count; ++i)
    wrong += in[begin + i] == static_cast<T>((i * 7 + static_cast<std::size_t>(size - 1)) % 15) ? 0 : 1;
  EXPECT_EQ(wrong, 0) << "broadcast of " << count << " elements of " << sizeof(T) << " bytes at " << begin;
}

TEST(SharedMemoryBuffers, BeginAnywhere) {
  const Communicator comm{MPI_COMM_WORLD, {.transport = "shm"}};
  for (const std::size_t count : {1, 40, 41, 255, 256, 257, 1030, 16'384, 65'600, 140'001})
    for (const std::size_t at : {0, 1, 7, 33}) {
      expect_right_at<std::int8_t>(comm, count, at);
      expect_right_at<std::int16_t>(comm, count, at);
      expect_right_at<float>(comm, count, at);
    }
}

TEST(SharedMemoryOperations, ManyAtOnceWaitedForInReverse) {
  constexpr int many = 32;
  const Communicator comm{MPI_COMM_WORLD, {.transport = "shm"}};
  for (int round = 0; round < 4; ++round) {
    Flights flights;
    for (int i = 0; i < many; ++i)
      flights.push_back(std::make_unique<Flight>(different_trial(i * 5 + round), comm));
    for (const auto& flight : flights)
      flight->start();
    for (auto flight = flights.rbegin(); flight != flights.rend(); ++flight)
      (*flight)->finish();
  }
}

TEST(SharedMemoryOperations, OfTwoCommunicatorsAtOnce) {
  constexpr int many = 16;
  const std::array<Communicator, 2> comms{Communicator{MPI_COMM_WORLD, {.transport = "shm"}},
                                          Communicator{MPI_COMM_WORLD, {.transport = "shm"}}};
  std::array<Flights, 2> flights;
  for (std::size_t c = 0; c < 2; ++c)
    for (int i = 0; i < many; ++i)
      flights[c].push_back(std::make_unique<Flight>(different_trial(i * 3 + static_cast<int>(c)), comms[c]));
  const std::size_t first = static_cast<std::size_t>(world_rank()) % 2;  // ranks start them in other orders
  for (const std::size_t c : {first, 1 - first})
    for (const auto& flight : flights[c])
      flight->start();
  for (const std::size_t c : {1 - first, first})
    for (auto flight = flights[c].rbegin(); flight != flights[c].rend(); ++flight)
      (*flight)->finish();
}

TEST(SharedMemoryOperations, OfRanksInAnotherOrder) {
  MPI_Comm reversed = MPI_COMM_NULL, part = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank(), &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);
  const Communicator all{MPI_COMM_WORLD, {.transport = "shm"}}, back{reversed, {.transport = "shm"}},
      half{part, {.transport = "shm"}};
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

TEST(SharedMemoryOperations, OfBatchesKeepTheirOrder) {
  const Communicator comm{MPI_COMM_WORLD, {.transport = "shm"}};
  const int rank = world_rank(), size = world_size();
  const Rank next{(rank + 1) % size}, before{(rank + size - 1) % size};
  for (int round = 0; round < 3; ++round) {
    std::vector<std::vector<std::int64_t>> sent, received;
    Batch batch{comm};
    for (const std::int64_t bytes : edges) {
      const auto count = static_cast<std::size_t>(bytes / 8);
      sent.push_back(addends(count, rank, bytes + round));
      received.emplace_back(count);
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      batch.send(std::span{std::as_const(sent[i])}, next);
      batch.recv(std::span{received[i]}, before);
    }
    batch.run();
    for (std::size_t i = 0; i < sent.size(); ++i)
      EXPECT_EQ(received[i], addends(received[i].size(), before.value(), edges[i] + round));
  }
  EXPECT_EQ(totals_of(comm).mpi_sent, 0);
}

TEST(SharedMemoryContexts, AreUsedAgain) {
  for (int again = 0; again < 200; ++again) {
    Communicator comm{MPI_COMM_WORLD, {.transport = "shm"}};
    const auto count = static_cast<std::size_t>(again % 5 == 0 ? 20'000 : again);
    std::vector<std::int64_t> data = addends(count, world_rank(), again), again_data = data;
    Request request = allreduce_async(std::span{data}, Op::sum, comm);
    broadcast(std::span{again_data}, Rank{again % world_size()}, comm);
    if (again % 3 == 0) comm.close();  // completes it
    if (again % 3 != 0) request.wait();
    EXPECT_TRUE(is_sum(data, world_size(), again));
    EXPECT_EQ(again_data, addends(count, again % world_size(), again));
  }
}

TEST(SharedMemoryErrors, NameBothRanks) {
  if (world_size() != 2) GTEST_SKIP() << "where both ranks find out";
  for (const std::size_t count : {5, 500, 50'000}) {
    const Communicator comm{MPI_COMM_WORLD, {.algorithms = "allreduce=recursive_doubling", .transport = "shm"}};
    std::vector<std::int64_t> data(count + static_cast<std::size_t>(world_rank()));
    expect_throw<MismatchError>(
        [&] { allreduce(std::span{data}, Op::sum, comm); },
        {"allreduce", "on rank " + std::to_string(world_rank()), "rank " + std::to_string(1 - world_rank())});
    expect_throw<Error>([&] { allreduce(std::span{data}, Op::sum, comm); }, {"unusable"});
  }
  expect_works(Communicator{MPI_COMM_WORLD, {.transport = "shm"}});
}

}  // namespace
}  // namespace tutti::test
