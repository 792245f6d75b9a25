// Counters by name: that they begin at zero, count messages and bytes exactly, and agree with message_counters().
#include <stdexcept>

#include "lib/core/transport/shm/eager/streaming_copy.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// 10 elements of each rank travel once around: every rank sends all but one of the parts.
void pass_around(const Communicator& comm) {
  const std::vector<std::int64_t> mine(10, comm.rank().value());
  std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(comm.size()));
  allgather(std::span{mine}, std::span{all}, comm, {.algorithm = "ring"});
}

TEST(Counters, BeginAtZero) {
  for (const auto& [name, value] : Communicator{MPI_COMM_WORLD}.counters())
    EXPECT_EQ(value, 0) << name;
}

TEST(Counters, AreOfOneTransport) {
  const auto steps = static_cast<std::uint64_t>(world_size() - 1);
  for (const char* const transport : {"shm", "mpi"}) {
    const Communicator comm{MPI_COMM_WORLD, {.transport = transport}};
    pass_around(comm);
    pass_around(comm);
    for (const std::string of : {"shm", "mpi", "network"}) {
      const Counters counters = comm.counters();
      const std::uint64_t messages = of == transport ? 2 * steps : 0;
      EXPECT_EQ(counters.at(of + ".sent"), messages) << transport;
      EXPECT_EQ(counters.at(of + ".received"), messages) << transport;
      EXPECT_EQ(counters.at(of + ".sent_bytes"), 80 * messages) << transport;
      EXPECT_EQ(counters.at(of + ".received_bytes"), 80 * messages) << transport;
    }
  }
}

TEST(Counters, AgreeWithMessageCounters) {
  const Communicator comm{MPI_COMM_WORLD};
  pass_around(comm);
  barrier(comm);
  const Counters counters = comm.counters();
  const MessageCounters messages = comm.message_counters();
  EXPECT_EQ(counters.at("shm.sent") + counters.at("mpi.sent"), messages.shm.sent + messages.mpi.sent);
  EXPECT_EQ(counters.at("shm.received_bytes"), messages.shm.received_bytes);
  EXPECT_EQ(counters.at("mpi.received_bytes"), messages.mpi.received_bytes);
}

/// Streaming stores are tried now and then, whether they are cheaper or not; never for short pieces.
TEST(Counters, CountPiecesPastTheCaches) {
  if (!shm::has_streaming_stores) GTEST_SKIP() << "this processor has no streaming stores";
  const Communicator comm{MPI_COMM_WORLD, {.transport = "shm"}};
  std::vector<std::uint8_t> data(60'000);
  for (const std::size_t bytes : {std::size_t{2'000}, data.size()}) {
    for (int i = 0; i < 100; ++i)
      broadcast(std::span{data}.first(bytes), Rank{0}, comm, {.algorithm = "chain"});
    const bool sends = comm.rank().value() + 1 < comm.size();
    EXPECT_EQ(comm.counters().at("shm.eager.streamed") > 0, sends && bytes == data.size()) << bytes;
  }
}

TEST(Counters, OfOtherNamesAreAnError) {
  const Counters counters = Communicator{MPI_COMM_WORLD}.counters();
  EXPECT_THROW(static_cast<void>(counters.at("shm.snet")), std::out_of_range);
}

}  // namespace
}  // namespace tutti::test
