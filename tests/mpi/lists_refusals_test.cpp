// Lists of buffers that are refused, on all ranks alike.
#include <array>
#include <cstdlib>

#include "lib/core/call/list_parts.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/lists.hpp"

namespace tutti::test {
namespace {

/// So many elements are packed at most, in a collective of one block.
constexpr std::int64_t packed = detail::list_tuning.packed / 8;

class RefusedLists : public testing::Test {
 protected:
  void expect_refused(const std::vector<ListedBuffer>& list, std::initializer_list<std::string> parts) {
    const std::uint64_t sent = comm_.counters().at("shm.sent");
    expect_throw<ArgumentError>([&] { allreduce_list(list, Type::fp64, Op::sum, comm_); }, parts);
    expect_throw<ArgumentError>([&] { (void)allreduce_list_async(list, Type::fp64, Op::sum, comm_); }, parts);
    expect_throw<ArgumentError>([&] { (void)plan_allreduce_list(list, Type::fp64, Op::sum, comm_); }, parts);
    EXPECT_EQ(comm_.counters().at("shm.sent"), sent);
    expect_works(comm_);
  }
  [[nodiscard]] ListedBuffer at(std::size_t first, std::int64_t count) {
    return {&memory_[first], &memory_[first], Count{count}};
  }
  Communicator comm_{MPI_COMM_WORLD};
  std::vector<double> memory_ = std::vector<double>(100);
  std::string rank_ = "on rank " + std::to_string(world_rank());
};

TEST_F(RefusedLists, NameTheBuffer) {
  expect_refused({at(0, 3), {&memory_[9], nullptr, Count{3}}, at(20, 1)},
                 {"tutti::allreduce_list, buffer 1 of 3", rank_, "'out'", "null with count 3", "memory of count"});
  expect_refused({at(0, 3), at(20, -1)}, {"buffer 1 of 2", rank_, "'count'", "-1", "0 to"});
  expect_refused({at(0, 3), {&memory_[9], &memory_[10], Count{3}}}, {"buffer 1 of 2", rank_, "overlapping it partly"});
}

TEST_F(RefusedLists, OutputsThatShareMemory) {
  expect_refused({at(0, 3), at(50, 9), at(2, 3)}, {"'buffers'", "outputs of buffers 0 and 2 share memory", rank_});
  expect_refused({at(2, 3), at(0, 3)}, {"outputs of buffers 0 and 1"});
  expect_refused({at(7, 3), at(7, 3)}, {"outputs of buffers 0 and 1"});
  expect_refused({{&memory_[10], &memory_[30], Count{5}}, at(14, 3)},
                 {"the output and the input of buffers 1 and 0 share memory", "apart from all other buffers"});
  std::vector<ListedBuffer> inputs{{&memory_[0], &memory_[30], Count{5}}, {&memory_[2], &memory_[40], Count{5}}};
  allreduce_list(inputs, Type::fp64, Op::sum, comm_);  // inputs may
}

TEST_F(RefusedLists, OtherArgumentsOfAnyList) {
  for (const std::vector<ListedBuffer>& list : {std::vector<ListedBuffer>{}, {at(0, 1), at(2, 1)}, {at(0, 1)}}) {
    expect_throw<ArgumentError>([&] { allreduce_list(list, Type::fp64, Op::bxor, comm_); }, {"'op'", rank_});
    expect_throw<ArgumentError>([&] { broadcast_list(list, Type::fp64, Rank{-1}, comm_); }, {"'root'", "-1", rank_});
    expect_throw<ArgumentError>([&] { allreduce_list(list, Type::fp64, Op::sum, comm_, {.algorithm = "no"}); },
                                {"'no'", rank_});
  }
  std::vector<float> odd(static_cast<std::size_t>(world_size() + 1));
  if (world_size() > 1)
    expect_throw<ArgumentError>([&] { allgather_list(std::array{std::span{odd}}, comm_); },
                                {"allgather_list", "'buffers[0]'", "a multiple of the", rank_});
  expect_works(comm_);
}

TEST_F(RefusedLists, OfClosedCommunicators) {
  Communicator closed{MPI_COMM_WORLD};
  const std::vector<ListedBuffer> list{at(0, 1), at(2, 1)};
  Plan plan = plan_allreduce_list(list, Type::fp64, Op::sum, closed);
  plan.start();
  plan.wait();
  { const Communicator gone = std::move(closed); }
  expect_throw<StateError>([&] { plan.start(); }, {});
}

TEST_F(RefusedLists, StartsOfPlansUnderWay) {
  const std::vector<ListedBuffer> list{at(0, 1), at(2, 1), at(20, 70)};
  Plan plan = plan_allreduce_list(list, Type::fp64, Op::sum, comm_);
  plan.start();
  expect_throw<StateError>([&] { plan.start(); }, {"still running"});
  plan.wait();
}

/// One call on each rank, of other sizes; and two calls under way where other ranks have one.
TEST_F(RefusedLists, ThatDifferBetweenRanks) {
  if (world_size() < 2) GTEST_SKIP() << "one rank alone always matches itself";
  memory_.resize(static_cast<std::size_t>(20 + 2 * packed));
  for (const std::int64_t other : {std::int64_t{11}, 2 * packed}) {
    const Communicator own{MPI_COMM_WORLD};
    const bool is_other = world_rank() == 1;
    // Once with the same total, which messages of MPI do not tell without the check of arguments.
    const bool is_told = std::getenv("TUTTI_TRANSPORT") == nullptr || std::getenv("TUTTI_CHECK") != nullptr;
    const std::int64_t first = is_other && other == 11 && is_told ? 9 : 10;
    const std::vector<ListedBuffer> list{at(0, first), at(20, is_other ? other : 10)};
    std::string told;
    for (int calls = 0; calls < 3 && told.empty(); ++calls) {  // a rank whose own call could end learns it in the next
      try {
        allreduce_list(list, Type::fp64, Op::sum, own);
      } catch (const MismatchError& error) {
        told = error.what();
      }
    }
    EXPECT_NE(told.find("allreduce"), std::string::npos) << told;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace
}  // namespace tutti::test
