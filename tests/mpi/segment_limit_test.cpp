// Choices that would cut a call into more segments than a plan can hold are refused, on all ranks, from every source.
#include "lib/core/call/segment_limit.hpp"

#include <fmt/format.h>

#include <vector>

#include "lib/core/schedule/passes.hpp"
#include "lib/core/selection/selection.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

constexpr auto too_many = static_cast<std::size_t>(most_segments) + 1;

class SegmentLimit : public testing::Test {
 protected:
  /// An alltoall with blocks of so many bytes.
  void exchange(const Communicator& comm, std::size_t block, const Options& options = {}) {
    const std::size_t all = block * static_cast<std::size_t>(comm.size());
    in_.assign(all, static_cast<std::uint8_t>(comm.rank().value()));
    out_.assign(all, 255);
    alltoall(std::span<const std::uint8_t>{in_}, std::span{out_}, comm, options);
    for (std::size_t i = 0; i < all; ++i)
      ASSERT_EQ(out_[i], i / block) << i;
  }
  void expect_refused(const Communicator& comm, const Options& options, const std::string& why) {
    const std::size_t segments = too_many * static_cast<std::size_t>(world_size());
    expect_throw<ArgumentError>(
        [&] { exchange(comm, too_many, options); },
        {fmt::format("tutti::alltoall on rank {}", world_rank()), "argument 'algorithm'", "'pairwise/1'", why,
         fmt::format("{} segments of 1 bytes", segments), fmt::format("up to {}", most_segments),
         fmt::format("{} bytes or more", world_size() + 1)});
    exchange(comm, 100, options);  // the communicator still works, and fewer segments are allowed
  }
  std::vector<std::uint8_t> in_, out_;
};

TEST_F(SegmentLimit, IsKeptByCalls) {
  expect_refused(Communicator{MPI_COMM_WORLD}, {.algorithm = "pairwise/1"}, "as the call says");
}

TEST_F(SegmentLimit, IsKeptByTheEnvironment) {
  const Setting setting{"TUTTI_ALGORITHM", "alltoall=pairwise/1"};
  expect_refused(Communicator{MPI_COMM_WORLD}, {}, "TUTTI_ALGORITHM");
}

TEST_F(SegmentLimit, IsKeptByCommunicators) {
  expect_refused(Communicator{MPI_COMM_WORLD, {.algorithms = "alltoall=pairwise/1"}}, {}, "the communicator's setting");
}

TEST_F(SegmentLimit, IsKeptWithBlocksOfDifferingSizes) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::uint8_t> own(too_many), all(too_many * static_cast<std::size_t>(comm.size()));
  const std::vector<Count> counts(static_cast<std::size_t>(comm.size()), Count{own.size()});
  expect_throw<ArgumentError>(
      [&] {
        allgatherv(std::span<const std::uint8_t>{own}, std::span{all}, BlockList{counts, {}}, comm,
                   {.algorithm = "ring/1"});
      },
      {"tutti::allgatherv", "'ring/1'", fmt::format("up to {}", most_segments)});
}

/// Rank 1 alone would have too many in most of these calls, and others do not know how many it has.
TEST_F(SegmentLimit, RefusesNobodyWhereRanksKnowOnlyTheirOwnBlocks) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto size = static_cast<std::size_t>(comm.size()), me = static_cast<std::size_t>(comm.rank().value());
  const Rank root{comm.size() - 1};
  std::vector<Count> counts(size, Count{10});
  counts[1 % size] = Count{too_many};
  const std::size_t own = me == 1 % size ? too_many : 10, whole = 10 * (size - 1) + too_many;
  std::vector<std::uint8_t> mine(own, static_cast<std::uint8_t>(me)), all(whole, 255), expected;
  for (std::size_t rank = 0; rank < size; ++rank)
    expected.insert(expected.end(), rank == 1 % size ? too_many : 10, static_cast<std::uint8_t>(rank));
  const Options options{.algorithm = "linear/1"};
  gatherv(std::span<const std::uint8_t>{mine}, std::span{all}, BlockList{counts, {}}, root, comm, options);
  if (comm.rank() == root) {
    EXPECT_EQ(all, expected);
  }
  mine.assign(own, 255);
  scatterv(std::span<const std::uint8_t>{expected}, BlockList{counts, {}}, std::span{mine}, root, comm, options);
  EXPECT_EQ(mine, std::vector<std::uint8_t>(own, static_cast<std::uint8_t>(me)));
  // All get as much from each as that one has itself.
  const std::vector<Count> to_each(size, Count{own});
  std::vector<std::uint8_t> sent(own * size, static_cast<std::uint8_t>(me));
  all.assign(whole, 255);
  alltoallv(std::span<const std::uint8_t>{sent}, BlockList{to_each, {}}, std::span{all}, BlockList{counts, {}}, comm,
            {.algorithm = "pairwise/1"});
  EXPECT_EQ(all, expected);
}

Choice choice(Collective collective, const char* text) { return read_choice(collective, text); }

Problem problem(Collective collective, int ranks, std::int64_t count, int rank = 0) {
  Problem problem{.rank = Rank{rank}, .size = ranks, .count = Count{count}};
  problem.collective = collective;
  problem.parameter = 16;
  return problem;
}

TEST(Segments, AreThoseOfTheBusiestRank) {
  using enum Collective;
  EXPECT_EQ(segments_of(choice(alltoall, "pairwise"), problem(alltoall, 8, 4096), Type::uint8), 0) << "whole";
  EXPECT_EQ(segments_of(choice(alltoall, "pairwise/1"), problem(alltoall, 8, 4096), Type::uint8), 8 * 4096);
  EXPECT_EQ(segments_of(choice(alltoall, "pairwise/4K"), problem(alltoall, 8, 4096), Type::fp32), 8 * 4);
  EXPECT_EQ(segments_of(choice(broadcast, "chain/64K"), problem(broadcast, 8, 1 << 30), Type::uint8), 16384);
  EXPECT_EQ(segments_of(choice(broadcast, "knomial:16/64K"), problem(broadcast, 8, 1 << 20), Type::uint8), 7 * 16)
      << "the root sends everything to all";
  for (const int rank : {0, 5})
    EXPECT_EQ(segments_of(choice(gather, "linear/1"), problem(gather, 8, 100, rank), Type::uint8), 800)
        << "all come to the same, on the root or not";
  EXPECT_EQ(segments_of(choice(allreduce, "two_shot/1K"), problem(allreduce, 4, 10'240), Type::uint8), 10 * 6)
      << "each segment has messages of its own";
}

TEST(Segments, MayBeAsManyAsTheLimit) {
  const Choice ring = choice(Collective::allgather, "ring/1");
  const CallSite site{"allgather", Rank{0}};
  EXPECT_NO_THROW(
      require_few_segments(site, ring, problem(Collective::allgather, 2, most_segments / 2), Type::uint8, ""));
  EXPECT_THROW(
      require_few_segments(site, ring, problem(Collective::allgather, 2, most_segments / 2 + 1), Type::uint8, ""),
      ArgumentError);
}

/// Tutti may cut very long data into more segments: memory for the steps is then little beside that for the data.
TEST(Segments, OfWhatTuttiChoosesAreNotLimited) {
  const Question question{
      .collective = Collective::broadcast, .ranks = 16, .bytes = Bytes{std::int64_t{1} << 40}, .shares_memory = true};
  EXPECT_FALSE(select(question, {}, nullptr).is_users);
}

}  // namespace
}  // namespace tutti::test
