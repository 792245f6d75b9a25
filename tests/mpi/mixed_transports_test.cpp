// Messages through shared memory and over UCX in one communicator: a rank that waits for one transport moves the other,
// too.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Rank 0, on a node of its own, sends to rank 1, then to rank 2, which then sends to rank 1. This waits in shared
/// memory for a message that comes only after rank 0 has heard, over UCX, that its first one arrived. Before, rank 1
/// sends as many short messages as there may be room for while rank 0 is elsewhere, so that the news has to wait in a
/// queue.
class MixedTransports : public testing::Test {
 protected:
  void play(const Bytes& sent, int short_messages) {
    if (comm_.rank() == Rank{0}) {
      Request request = send_async(sent.data(), Count{sent.size()}, Type::uint8, Rank{1}, comm_);
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      for (int i = 0; i < short_messages; ++i)
        recv(std::span{short_}, Rank{1}, comm_);
      request.wait();
      send(std::span{sent}, Rank{2}, comm_);
      return;
    }
    Bytes received(sent.size());
    if (comm_.rank() == Rank{1}) {
      std::this_thread::sleep_for(std::chrono::milliseconds{4});
      for (int i = 0; i < short_messages; ++i)
        send(std::span{short_}, Rank{0}, comm_);
      recv(std::span{received}, Rank{0}, comm_);
      recv(std::span{short_}, Rank{2}, comm_);
    } else {
      recv(std::span{received}, Rank{0}, comm_);
      send(std::span{short_}, Rank{1}, comm_);
    }
    EXPECT_EQ(received, sent);
  }

  Communicator comm_{MPI_COMM_WORLD, {.transport = "shm+ucx"}};
  Bytes short_ = Bytes(16);
};

TEST_F(MixedTransports, WhoWaitsInSharedMemoryMovesUcx) {
  ASSERT_EQ(comm_.size(), 3);
  ASSERT_EQ(comm_.node_count(), 2);
  constexpr int rounds = 50;
  for (int round = 0; round < rounds; ++round)
    play(Bytes(100'000, static_cast<std::uint8_t>(round + 1)), 20 + 2 * round);
  const MessageCounters counters = comm_.message_counters();
  EXPECT_GE(counters.network.sent + counters.network.received, rounds);
  EXPECT_EQ(counters.shm.sent + counters.shm.received, comm_.rank() == Rank{0} ? 0 : rounds);
}

}  // namespace
}  // namespace tutti::test
