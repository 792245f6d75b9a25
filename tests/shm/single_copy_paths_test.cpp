// Programs whose long messages are read in the memory of their sender, and what happens if the system forbids it later.
#include <fmt/format.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tests/shm/shm_flights.hpp"
#include "tests/shm/single_copy_support.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

struct Counts {
  std::uint64_t read = 0, refused = 0, shared = 0;
};

/// Of all ranks.
Counts counts_of(const Communicator& comm) {
  const MessageCounters mine = comm.message_counters();
  std::array<std::uint64_t, 3> all{mine.single_copies, mine.refused, mine.shared_copies};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {all[0], all[1], all[2]};
}

/// Whether the system lets all ranks read their neighbours.
bool is_allowed() {
  struct {
    pid_t pid = ::getpid();
    int value = 42;
    void* at = nullptr;
  } static mine, theirs;
  mine.at = &mine.value;
  const int next = (world_rank() + 1) % world_size(), before = (world_rank() + world_size() - 1) % world_size();
  MPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, before, 0, &theirs, sizeof theirs, MPI_BYTE, next, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  int came = 0;
  const iovec local{&came, sizeof came}, remote{theirs.at, sizeof came};
  int allowed = ::process_vm_readv(theirs.pid, &local, 1, &remote, 1, 0) == sizeof came ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &allowed, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return allowed != 0;
}

/// Each element says which broadcast it is of.
void broadcast_once(const Communicator& comm, std::vector<std::int32_t>& data, int number) {
  const bool is_root = comm.rank() == Rank{0};
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = is_root ? static_cast<std::int32_t>(i) + number : -1;
  broadcast(std::span{data}, Rank{0}, comm, {.algorithm = "chain"});  // each to one rank, with nothing that follows
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < data.size(); ++i)
    wrong += data[i] == static_cast<std::int32_t>(i) + number ? 0 : 1;
  EXPECT_EQ(wrong, 0) << "broadcast " << number;
}

/// Its result is known without the MPI, which may need what the system has been told to forbid.
void allreduce_once(const Communicator& comm, int number) {
  constexpr std::int32_t count = 300'001;
  const int p = comm.size(), ranks = p * (p - 1) / 2;
  std::vector<std::int32_t> mine(count), sum(count, -1);
  for (std::int32_t i = 0; i < count; ++i)
    mine[static_cast<std::size_t>(i)] = i + comm.rank().value() + number;
  allreduce(std::span<const std::int32_t>{mine}, std::span{sum}, Op::sum, comm);
  std::size_t wrong = 0;
  for (std::int32_t i = 0; i < count; ++i)
    wrong += sum[static_cast<std::size_t>(i)] == p * (i + number) + ranks ? 0 : 1;
  EXPECT_EQ(wrong, 0) << "allreduce " << number;
}

class SingleCopyPaths : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_allowed()) GTEST_SKIP() << "process_vm_readv is not permitted here";
  }
  std::vector<std::int32_t> data_ = std::vector<std::int32_t>(100'003);
};

TEST_F(SingleCopyPaths, AlwaysAndNever) {
  for (const bool is_read : {true, false}) {
    const Setting setting{"TUTTI_SINGLE_COPY", is_read ? "always" : "never"};
    const Communicator comm{MPI_COMM_WORLD};
    for (int i = 0; i < 10; ++i) {
      broadcast_once(comm, data_, i);
      MPI_Barrier(MPI_COMM_WORLD);  // else a sender that is far ahead does not know yet that it can be read
    }
    const Counts counts = counts_of(comm);
    const auto hops = static_cast<std::uint64_t>(world_size() - 1);
    EXPECT_LE(counts.read, is_read ? 10 * hops : 0);
    EXPECT_GE(counts.read, is_read ? 9 * hops : 0);  // nor does one that is first
    EXPECT_EQ(counts.refused, 0);
  }
}

/// Both ways are measured: at first it is staged, and then tried a few times in a row, once its sender has been told.
TEST_F(SingleCopyPaths, AreTriedByThemselves) {
  const Communicator comm{MPI_COMM_WORLD};
  for (int i = 0; i < 40; ++i) {
    broadcast_once(comm, data_, i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const std::uint64_t read = counts_of(comm).read, hops = static_cast<std::uint64_t>(world_size() - 1);
  EXPECT_GE(read, 2 * hops);
  EXPECT_LT(read, 40 * hops + (hops == 0 ? 1 : 0));
}

/// What goes both ways, and what is reduced between two.
TEST_F(SingleCopyPaths, AreTriedByExchangesAndReductions) {
  for (const Collective collective : {Collective::alltoall, Collective::reduce}) {
    const Communicator comm{MPI_COMM_WORLD};
    for (int i = 0; i < 40; ++i)
      for (const Place place : {Place::separate, Place::in_place})
        expect_right<std::int32_t>({.collective = collective, .place = place, .count = 10'000}, Op::sum, comm);
    const bool reads = collective == Collective::alltoall ? world_size() > 1 : world_size() == 2;
    EXPECT_EQ(counts_of(comm).read > 0, reads) << to_string(collective);
  }
}

TEST_F(SingleCopyPaths, ServeEveryCollective) {
  const Setting setting{"TUTTI_SINGLE_COPY", "always"};
  const Communicator comm{MPI_COMM_WORLD};
  for (const Collective collective : all_collectives()) {
    if (collective == Collective::barrier) continue;
    const std::uint64_t before = counts_of(comm).read;
    for (const std::string& algorithm : whole_choices_of(collective))
      for (const std::int64_t count : {20'000, 100'001}) {
        Trial trial{.collective = collective, .algorithm = algorithm, .count = count};
        expect_right<std::int64_t>(trial, Op::sum, comm);
      }
    const bool is_read = counts_of(comm).read > before;
    if (!reduces(collective)) {  // else as measured, if at all
      EXPECT_EQ(is_read, world_size() > 1) << to_string(collective);
    }
  }
  EXPECT_EQ(counts_of(comm).refused, 0);
}

TEST_F(SingleCopyPaths, ServeManyAtOnce) {
  const Setting setting{"TUTTI_SINGLE_COPY", "always"};
  const Communicator comm{MPI_COMM_WORLD};
  Flights flights;
  for (int i = 0; i < 40; ++i)
    flights.push_back(std::make_unique<Flight>(different_trial(i * 7), comm));
  for (const auto& flight : flights)
    flight->start();
  for (auto flight = flights.rbegin(); flight != flights.rend(); ++flight)
    (*flight)->finish();
  EXPECT_EQ(counts_of(comm).read > 0, world_size() > 1);
}

/// Who has nothing to do but to send helps who receives, if it has a processor in time: shared_messages_test.cpp shows
/// that it does.
TEST_F(SingleCopyPaths, MayBeSharedWithAnIdleSender) {
  const Setting setting{"TUTTI_SINGLE_COPY", "always"};
  const Communicator comm{MPI_COMM_WORLD};
  for (const Collective collective : {Collective::broadcast, Collective::gather}) {
    const std::uint64_t before = counts_of(comm).shared;
    Trial trial{.collective = collective, .algorithm = "chain", .place = Place::in_place, .count = 100'003};
    if (collective == Collective::gather) trial.algorithm = "linear";
    for (int i = 0; i < 40; ++i)
      expect_right<std::int32_t>(trial, Op::sum, comm);
    if (world_size() == 1) {
      EXPECT_EQ(counts_of(comm).shared, before) << to_string(collective);
    }
  }
  EXPECT_EQ(counts_of(comm).refused, 0);
}

/// What two ranks exchange is written by who sends it; also if only one of them calls in place.
TEST_F(SingleCopyPaths, ArePushedBetweenTwo) {
  const Setting setting{"TUTTI_SINGLE_COPY", "always"};
  const Communicator comm{MPI_COMM_WORLD};
  for (const auto& [collective, algorithm] : {std::pair{Collective::allreduce, "rabenseifner"},
                                              {Collective::allreduce, "two_shot"},
                                              {Collective::allgather, "ring"},
                                              {Collective::alltoall, "linear"}}) {
    const Counts before = counts_of(comm);
    for (int i = 0; i < 30; ++i) {
      const bool is_in_place = i % 3 == 0 || (i % 3 == 1 && world_rank() == 0 && collective == Collective::allreduce);
      Trial trial{.collective = collective, .algorithm = algorithm, .count = 300'001 + i};
      trial.place = is_in_place ? Place::in_place : Place::separate;
      expect_right<std::int32_t>(trial, Op::sum, comm);
    }
    const Counts after = counts_of(comm);
    EXPECT_EQ(after.shared > before.shared, world_size() == 2) << to_string(collective) << ' ' << algorithm;
  }
  EXPECT_EQ(counts_of(comm).refused, 0);
}

/// Late, as the next ones: a filter stays.
TEST_F(SingleCopyPaths, YAreReadAloneOnceTheSystemForbidsToWrite) {
  const Setting setting{"TUTTI_SINGLE_COPY", "always"};
  const Communicator comm{MPI_COMM_WORLD};
  for (int i = 0; i < 5; ++i)
    broadcast_once(comm, data_, i);
  const Communicator other{MPI_COMM_WORLD};
  allreduce_once(other, 0);
  const Counts before = counts_of(comm), before_exchange = counts_of(other);
  shm::forbid_writing();
  for (int i = 0; i < 5; ++i)
    allreduce_once(other, i);
  const Counts after_exchange = counts_of(other);
  EXPECT_EQ(after_exchange.read > before_exchange.read, world_size() == 2);
  EXPECT_EQ(after_exchange.shared, before_exchange.shared);
  for (int i = 5; i < 10; ++i)
    broadcast_once(comm, data_, i);
  const Counts after = counts_of(comm);
  EXPECT_EQ(after.read - before.read, static_cast<std::uint64_t>(5 * (world_size() - 1)));
  EXPECT_EQ(after.shared, before.shared);
  EXPECT_EQ(after.refused, 0);
}

/// Last. The message that is refused comes another way, and so do all that follow it.
TEST_F(SingleCopyPaths, ZAreLeftOnceTheSystemRefuses) {
  const Setting setting{"TUTTI_SINGLE_COPY", "always"};
  const Communicator comm{MPI_COMM_WORLD};
  for (int i = 0; i < 5; ++i)
    broadcast_once(comm, data_, i);
  const Communicator other{MPI_COMM_WORLD};
  for (int i = 0; i < 3; ++i)
    allreduce_once(other, i);
  const Counts before = counts_of(comm), before_exchange = counts_of(other);
  shm::forbid_reading();
  for (int i = 0; i < 5; ++i)
    allreduce_once(other, i);
  const Counts after_exchange = counts_of(other);
  EXPECT_EQ(after_exchange.read, before_exchange.read);
  EXPECT_EQ(after_exchange.refused, world_size() == 2 ? 2 : 0);
  for (int i = 5; i < 10; ++i)
    broadcast_once(comm, data_, i);
  const Counts after = counts_of(comm);
  EXPECT_EQ(after.read, before.read);
  EXPECT_EQ(after.refused, static_cast<std::uint64_t>(world_size() - 1));
  const Communicator next{MPI_COMM_WORLD};  // asks anew
  for (int i = 0; i < 5; ++i)
    broadcast_once(next, data_, i);
  EXPECT_EQ(counts_of(next).read + counts_of(next).refused, 0);
}

}  // namespace
}  // namespace tutti::test
