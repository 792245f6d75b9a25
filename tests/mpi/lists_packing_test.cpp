// What of lists of buffers is packed, and what is not.
#include <algorithm>
#include <array>
#include <numeric>

#include "lib/core/call/list_parts.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/lists.hpp"

namespace tutti::test {
namespace {

using Element = std::int64_t;
using Counts = std::vector<std::int64_t>;

/// So many elements are packed at most, and one after the other into one call, in a collective of one block.
constexpr std::int64_t packed = detail::list_tuning.packed / 8, most = detail::list_tuning.most / 8;

/// What a call adds to a counter.
template <class Do>
std::uint64_t counted(const Communicator& comm, const char* name, const Do& act) {
  const std::uint64_t before = comm.counters().at(name);
  act();
  return comm.counters().at(name) - before;
}

class Packing : public testing::Test {
 protected:
  /// Buffers with a gap between them, so that they do not lie one after the other.
  std::vector<std::span<Element>> apart(const Counts& counts) {
    memory_.assign(
        static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})) + counts.size(), 1);
    std::vector<std::span<Element>> buffers;
    Element* next = memory_.data();
    for (const std::int64_t count : counts) {
      buffers.emplace_back(next, static_cast<std::size_t>(count));
      next += count + 1;
    }
    return buffers;
  }
  void expect_packed(const Counts& counts, std::uint64_t calls, std::uint64_t buffers) {
    const auto list = apart(counts);
    const Counters before = comm_.counters();
    allreduce_list(list, Op::sum, comm_);
    EXPECT_EQ(comm_.counters().at("calls.packed") - before.at("calls.packed"), calls);
    EXPECT_EQ(comm_.counters().at("calls.packed_buffers") - before.at("calls.packed_buffers"), buffers);
    for (const auto& buffer : list)
      for (const Element element : buffer)
        EXPECT_EQ(element, comm_.size());
    for (std::size_t i = 0, at = 0; i < counts.size(); ++i, ++at)
      EXPECT_EQ(memory_[at += static_cast<std::size_t>(counts[i])], 1) << "the gap behind buffer " << i;
  }
  Communicator comm_{MPI_COMM_WORLD};
  std::vector<Element> memory_{};
};

TEST_F(Packing, OfShortBuffers) {
  expect_packed(Counts(100, 16), 1, 100);
  expect_packed({16, 0, 16}, 1, 2);
  expect_packed({packed, packed}, 1, 2);
}

TEST_F(Packing, LeavesOneBufferAloneAndLongOnesWhereTheyAre) {
  expect_packed({}, 0, 0);
  expect_packed({16}, 0, 0);
  expect_packed({0, 16, 0}, 0, 0);
  expect_packed({packed + 1, packed + 1}, 0, 0);
  expect_packed({packed + 1, 3, packed + 1}, 0, 0);
  expect_packed({packed + 1, 3, packed + 1, 3}, 1, 2);
}

TEST_F(Packing, BeginsAnewWhereACallIsFull) {
  const std::int64_t full = most / packed;
  expect_packed(Counts(static_cast<std::size_t>(full), packed), 1, static_cast<std::uint64_t>(full));
  expect_packed(Counts(static_cast<std::size_t>(2 * full + 1), packed), 2, static_cast<std::uint64_t>(2 * full));
}

TEST_F(Packing, CountsAllBlocks) {
  const std::int64_t block = packed / comm_.size();
  std::vector<std::vector<Element>> buffers(2, std::vector<Element>(static_cast<std::size_t>(block * comm_.size())));
  const auto gather = [&] { allgather_list(buffers, comm_); };
  const auto reduce = [&] { reduce_scatter_list(buffers, Op::sum, comm_); };
  EXPECT_EQ(counted(comm_, "calls.packed", gather), 1U);
  EXPECT_EQ(counted(comm_, "calls.packed", reduce), 1U);
  for (auto& buffer : buffers)
    buffer.resize(static_cast<std::size_t>((block + 1) * comm_.size()));
  EXPECT_EQ(counted(comm_, "calls.packed", gather), 0U);
  EXPECT_EQ(counted(comm_, "calls.packed", reduce), 0U);
}

TEST_F(Packing, IsNotNeededWhereBuffersLieOneAfterTheOther) {
  std::vector<Element> memory(300, 1);
  const std::array<std::span<Element>, 3> list{std::span{memory}.first(100), std::span{memory}.subspan(100, 50),
                                               std::span{memory}.subspan(150)};
  EXPECT_EQ(counted(comm_, "calls.packed", [&] { allreduce_list(list, Op::sum, comm_); }), 0U);
  EXPECT_EQ(memory, std::vector<Element>(300, comm_.size()));
  EXPECT_EQ(counted(comm_, "calls.packed", [&] { broadcast_list(list, Rank{0}, comm_); }), 0U);
  // Other ranks pack the same list.
  const auto mixed =
      world_rank() % 2 == 0 ? std::vector<std::span<Element>>{list.begin(), list.end()} : apart({100, 50, 150});
  memory.assign(300, 1);
  allreduce_list(mixed, Op::sum, comm_);
  for (const auto& buffer : mixed)
    EXPECT_EQ(std::ranges::count(buffer, Element{comm_.size()}), static_cast<std::ptrdiff_t>(buffer.size()));
}

TEST_F(Packing, SendsTheMessagesOfOneCall) {
  const auto list = apart(Counts(100, 16));
  std::vector<Element> whole(1600, 1);
  const std::uint64_t sent = counted(comm_, "shm.sent", [&] { allreduce(whole, Op::sum, comm_); });
  EXPECT_EQ(counted(comm_, "shm.sent", [&] { allreduce_list(list, Op::sum, comm_); }), sent);
}

TEST_F(Packing, IsExplained) {
  const auto list = apart({16, 16, packed + 1});
  const Plan plan = plan_allreduce_list(list, Op::sum, comm_);
  EXPECT_EQ(plan.explain().find("2 buffers, packed: allreduce of 32 elements of int64"), 0U) << plan.explain();
  EXPECT_NE(plan.explain().find("\n1 buffer: allreduce of " + std::to_string(packed + 1)), std::string::npos);
  EXPECT_FALSE(plan.algorithm().empty());
}

}  // namespace
}  // namespace tutti::test
