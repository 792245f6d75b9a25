// Clocks compared by messages. The ranks of one machine have one clock, so the true differences are known: none, or
// what the test adds.
#include "lib/watch/clocks.hpp"

#include "lib/watch/trace/clock.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using detail::ClockComparison;
using detail::ClockOffset;

constexpr std::int64_t second = 1'000'000'000;

/// A clock that is ahead by some seconds for each rank.
std::int64_t clock_of_this_rank() { return trace::now() + world_rank() * second; }

/// Every rank is a node of its own.
mpi::UniqueComm alone() {
  mpi::UniqueComm comm;
  MPI_Comm_dup(MPI_COMM_SELF, comm.receive());
  return comm;
}

void expect_offset(const ClockOffset& found, std::int64_t true_offset) {
  EXPECT_GE(found.round_trip, 0);
  EXPECT_LT(found.round_trip, second) << "the shortest of many";
  EXPECT_LE(std::abs(found.offset - true_offset), found.round_trip / 2 + 1);
  EXPECT_EQ(found.leader, world_rank());
}

TEST(Clocks, OfNodesDifferAsMuchAsTheyDo) {
  const std::int64_t begin = clock_of_this_rank();
  ClockComparison comparison{MPI_COMM_WORLD, alone(), world_rank(), clock_of_this_rank};
  const ClockOffset first = comparison.compare({});
  EXPECT_EQ(first.reference, 0);
  expect_offset(first, -world_rank() * second);
  const ClockOffset again = comparison.compare_again(first, 20 * second);
  EXPECT_EQ(again.reference, 0);
  expect_offset(again, -world_rank() * second);
  EXPECT_LE(begin, first.at);
  EXPECT_LE(first.at, again.at);
  EXPECT_LE(again.at, clock_of_this_rank());
}

/// The first rank knows its difference to a clock that is not here.
TEST(Clocks, AreComparedWithTheOneThatIsKnown) {
  ClockComparison comparison{MPI_COMM_WORLD, alone(), world_rank(), clock_of_this_rank};
  const ClockOffset known{.reference = 77, .leader = 0, .offset = 5 * second};
  const ClockOffset found = comparison.compare(known);
  EXPECT_EQ(found.reference, 77);
  expect_offset(found, (5 - world_rank()) * second);
}

TEST(Clocks, OfOneNodeAreTakenOver) {
  mpi::UniqueComm node;
  MPI_Comm_dup(MPI_COMM_WORLD, node.receive());
  ClockComparison comparison{MPI_COMM_WORLD, std::move(node), world_rank(), trace::now};
  const ClockOffset found = comparison.compare({});
  EXPECT_EQ(found.reference, 0);
  EXPECT_EQ(found.leader, 0);
  EXPECT_EQ(found.offset, 0);
  EXPECT_EQ(comparison.compare_again(found, second).reference, world_rank() == 0 ? 0 : -1) << "by one rank of a node";
}

/// The last rank takes no part.
TEST(Clocks, ThatDoNotAnswerKeepNobody) {
  ClockComparison comparison{MPI_COMM_WORLD, alone(), world_rank(), clock_of_this_rank};
  const ClockOffset known = comparison.compare({});
  constexpr std::int64_t patience = 2 * second;  // on a busy machine, those that answer take a while
  if (world_rank() + 1 < world_size() || world_size() == 1) {
    const ClockOffset found = comparison.compare_again(known, patience);
    EXPECT_EQ(found.reference, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tutti::test
