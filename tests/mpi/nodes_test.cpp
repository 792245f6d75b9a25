// Ranks on several nodes (slurm/cluster.sh), or on one: the ranks that share a node, and the transports of messages.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using HostName = std::array<char, 256>;

/// The host of each rank. Nodes are told apart by memory that ranks share, so the names are news.
std::vector<std::string> host_names() {
  HostName mine{};
  gethostname(mine.data(), mine.size() - 1);
  std::vector<HostName> all(static_cast<std::size_t>(world_size()));
  MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, all.data(), static_cast<int>(mine.size()),
                MPI_CHAR, MPI_COMM_WORLD);
  std::vector<std::string> names(all.size());
  std::ranges::transform(all, names.begin(), [](const HostName& name) { return std::string{name.data()}; });
  return names;
}

TEST(Nodes, AreThoseOfTheHostNames) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<std::string> names = host_names();
  const std::set<std::string> hosts(names.begin(), names.end());
  EXPECT_EQ(comm.node_count(), static_cast<int>(hosts.size()));
  for (int a = 0; a < comm.size(); ++a)
    for (int b = 0; b < comm.size(); ++b)
      EXPECT_EQ(comm.node_of(Rank{a}) == comm.node_of(Rank{b}),
                names[static_cast<std::size_t>(a)] == names[static_cast<std::size_t>(b)])
          << "ranks " << a << " and " << b;
}

/// TUTTI_TEST_NODES: how many the launcher was told to use. Without it a lab whose ranks all came up on one node
/// passes.
TEST(Nodes, AreAsManyAsWereAskedFor) {
  const char* asked = std::getenv("TUTTI_TEST_NODES");
  if (asked == nullptr) GTEST_SKIP() << "TUTTI_TEST_NODES is not set";
  EXPECT_EQ(Communicator{MPI_COMM_WORLD}.node_count(), std::atoi(asked));
}

using Counter = MessageCounters::Transport;

/// Messages through memory inside nodes, and those that `between` counts between them.
void expect_ring(const Communicator& comm, Counter MessageCounters::*between) {
  std::vector<std::int64_t> mine = addends(10, world_rank(), 1),
                            all(mine.size() * static_cast<std::size_t>(comm.size()));
  const MessageCounters before = comm.message_counters();
  allgather(std::span{std::as_const(mine)}, std::span{all}, comm, {.algorithm = "ring"});
  const MessageCounters after = comm.message_counters();
  // In a ring a rank sends p - 1 messages to the next one, and receives as many from the one before.
  const int size = comm.size(), rank = world_rank();
  const auto messages = static_cast<std::uint64_t>(size - 1);
  const auto is_near = [&](int other) { return comm.node_of(Rank{other}) == comm.node_of(Rank{rank}); };
  const bool next_is_near = is_near((rank + 1) % size), last_is_near = is_near((rank + size - 1) % size);
  EXPECT_EQ(after.shm.sent - before.shm.sent, next_is_near ? messages : 0);
  EXPECT_EQ((after.*between).sent - (before.*between).sent, next_is_near ? 0 : messages);
  EXPECT_EQ(after.shm.received - before.shm.received, last_is_near ? messages : 0);
  EXPECT_EQ((after.*between).received - (before.*between).received, last_is_near ? 0 : messages);
  const std::uint64_t bytes = messages * mine.size() * sizeof(std::int64_t);
  EXPECT_EQ(after.shm.sent_bytes - before.shm.sent_bytes, next_is_near ? bytes : 0);
  EXPECT_EQ((after.*between).sent_bytes - (before.*between).sent_bytes, next_is_near ? 0 : bytes);
  EXPECT_EQ(after.shm.received_bytes - before.shm.received_bytes, last_is_near ? bytes : 0);
  EXPECT_EQ((after.*between).received_bytes - (before.*between).received_bytes, last_is_near ? 0 : bytes);
}

TEST(Nodes, SendThroughMemoryInsideAndOverMpiBetween) {
  expect_ring(Communicator{MPI_COMM_WORLD, {.transport = "auto"}}, &MessageCounters::mpi);
}

TEST(Nodes, SendThroughMemoryInsideAndOverUcxBetween) {
  const char* transport = std::getenv("TUTTI_TRANSPORT");
  if (transport == nullptr || std::string_view{transport} != "shm+ucx")
    GTEST_SKIP() << "TUTTI_TRANSPORT is not shm+ucx";
  expect_ring(Communicator{MPI_COMM_WORLD}, &MessageCounters::network);
}

TEST(Nodes, CannotShareMemoryWithOthers) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto make = [] { expect_works(Communicator{MPI_COMM_WORLD, {.transport = "shm"}}); };
  if (comm.node_count() == 1)
    make();
  else
    expect_throw<ArgumentError>(make,
                                {"transport 'shm'", "not all ranks share memory with rank", "allowed: auto, mpi"});
  expect_works(comm);
}

}  // namespace
}  // namespace tutti::test
