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
  std::uint64_t read = 0, refused = 0;
};

/// Of all ranks.
Counts counts_of(const Communicator& comm) {
  const Counters mine = comm.counters();
  std::array<std::uint64_t, 2> all{mine.at("shm.rendezvous.get"), mine.at("shm.rendezvous.refused")};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return {all[0], all[1]};
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

/// Its result is known without the MPI, which may need the system call that is forbidden.
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

/// As measured, staging is faster (docs/experiments/single-copy.md).
TEST_F(SingleCopyPaths, AreNotTakenByThemselves) {
  const Communicator comm{MPI_COMM_WORLD};
  for (int i = 0; i < 10; ++i)
    broadcast_once(comm, data_, i);
  EXPECT_EQ(counts_of(comm).read, 0);
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
    EXPECT_EQ(is_read, world_size() > 1) << to_string(collective);
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
  EXPECT_EQ(counts_of(other).read, before_exchange.read);
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
