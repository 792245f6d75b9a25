// Messages of a batch that share memory.
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

class Overlaps : public testing::Test {
 protected:
  [[nodiscard]] Rank at(int distance) const {
    return Rank{((world_rank() + distance) % world_size() + world_size()) % world_size()};
  }
  Communicator comm_{MPI_COMM_WORLD};
};

/// Four receives of which the second and the last share memory, however they are sorted by address.
TEST_F(Overlaps, RefuseReceivesThatShareMemory) {
  std::vector<double> data(40);
  const auto part = [&](std::size_t first, std::size_t count) { return std::span{data}.subspan(first, count); };
  Batch batch{comm_};
  batch.recv(part(20, 5), at(1));
  batch.recv(part(0, 10), at(-1));
  batch.recv(part(10, 10), at(1));
  batch.recv(part(5, 0), at(1));
  batch.recv(part(9, 1), at(1));
  const std::initializer_list<std::string> parts{
      "tutti::Batch on rank " + std::to_string(world_rank()), "'data'",
      "receive 1 (from rank " + std::to_string(at(-1).value()) + ", 80 bytes)",
      "receive 4 (from rank " + std::to_string(at(1).value()) + ", 8 bytes)", "apart from each other"};
  if (world_size() == 1) {  // where sends to itself are asked for first
    for (const std::size_t count : {5U, 10U, 10U, 0U, 1U})
      batch.send(part(30, count), at(0));
  }
  expect_throw<ArgumentError>([&] { batch.run(); }, parts);
  expect_throw<ArgumentError>([&] { batch.start().wait(); }, parts);
  expect_throw<ArgumentError>([&] { batch.plan().start(); }, parts);
  expect_works(comm_);
}

TEST_F(Overlaps, RefuseReceivesIntoWhatIsSent) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  std::vector<double> data(40);
  const auto part = [&](std::size_t first, std::size_t count) { return std::span{data}.subspan(first, count); };
  Batch batch{comm_};
  batch.send(part(0, 10), at(1));
  batch.send(part(5, 10), at(1));  // sends may share
  batch.recv(part(20, 10), at(-1));
  batch.recv(part(30, 10), at(-1));
  batch.run();
  batch.send(part(29, 1), at(1));
  const std::string send = "send 2 (to rank " + std::to_string(at(1).value()) + ", 8 bytes)";
  const std::string recv = "receive 0 (from rank " + std::to_string(at(-1).value()) + ", 80 bytes)";
  for (int again = 0; again < 2; ++again)
    expect_throw<ArgumentError>([&] { batch.run(); }, {"tutti::Batch", send, recv, "apart from what is sent"});
  expect_throw<ArgumentError>(
      [&] { sendrecv(std::span<const double>{part(0, 10)}, at(1), part(9, 10), at(-1), comm_); },
      {"tutti::sendrecv on rank", "send 0 (to", "receive 0 (from", "apart from what is sent"});
  expect_works(comm_);
}

/// Each receive lies between two sends, and touches both, as a stencil's columns do.
TEST_F(Overlaps, ReceivesBesideSendsAreApart) {
  constexpr std::size_t many = 1000;
  std::vector<std::int64_t> data(2 * many);
  Batch batch{comm_};
  for (std::size_t i = 0; i < many; ++i) {
    data[2 * i] = addend(world_rank(), 1, static_cast<std::int64_t>(i));
    batch.send(std::span{data}.subspan(2 * i, 1), at(1));
    batch.recv(std::span{data}.subspan(2 * i + 1, 1), at(-1));
  }
  batch.run();
  bool is_right = true;
  for (std::size_t i = 0; i < many; ++i)
    is_right &= data[2 * i + 1] == addend(at(-1).value(), 1, static_cast<std::int64_t>(i));
  EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace tutti::test
