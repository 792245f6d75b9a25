// Counts and offsets of the calls that end in v, from any range of integers.
#include <array>
#include <limits>
#include <list>
#include <numeric>
#include <string>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using List = std::vector<int>;

/// 1, 2, ..., last, none of which is in memory: as std::views::iota(1, last + 1), which clang 14 does not compile.
class FromOne {
 public:
  struct Iterator {
    using value_type = int;
    using difference_type = int;
    int value = 1;
    int operator*() const { return value; }
    Iterator& operator++() {
      ++value;
      return *this;
    }
    Iterator operator++(int) { return {value++}; }
    bool operator==(const Iterator&) const = default;
  };
  explicit FromOne(int last) : last_(last) {}
  [[nodiscard]] Iterator begin() const { return {}; }
  [[nodiscard]] Iterator end() const { return {last_ + 1}; }

 private:
  int last_;
};

/// Rank r has r + 1 elements of value r, apart from each other by one element where there are offsets.
class CountLists : public testing::Test {
 protected:
  CountLists() {
    for (int rank = 0; rank < world_size(); ++rank) {
      counts_.push_back(rank + 1);
      offsets_.push_back(offset_);
      offset_ += rank + 2;
    }
  }
  template <class Number>
  static std::vector<Number> list_of(const List& list) {
    std::vector<Number> numbers;
    for (const int value : list)
      numbers.push_back(static_cast<Number>(value));
    return numbers;
  }
  /// All ranks' blocks as expected, with gaps of -1, or without.
  [[nodiscard]] std::vector<double> all(bool has_gaps) const {
    std::vector<double> all;
    for (int rank = 0; rank < world_size(); ++rank) {
      all.insert(all.end(), static_cast<std::size_t>(rank) + 1, rank);
      if (has_gaps) all.push_back(-1);
    }
    return all;
  }
  /// allgatherv, gatherv and scatterv with lists of one kind.
  template <class Counts, class Offsets>
  void expect_moves(const Counts& counts, const Offsets& offsets) {
    std::vector<double> dense(all(false).size(), -1), spread(all(true).size(), -1), back(mine_.size(), -1);
    allgatherv(mine_, dense, counts, comm_);
    EXPECT_EQ(dense, all(false));
    allgatherv(mine_, spread, {counts, offsets}, comm_);
    EXPECT_EQ(spread, all(true));
    allgatherv(mine_.data(), dense.data(), {counts, {}}, Type::fp64, comm_);
    std::fill(spread.begin(), spread.end(), -1);
    gatherv(mine_, spread, {counts, offsets}, root_, comm_);
    EXPECT_TRUE(comm_.rank() != root_ || spread == all(true));
    scatterv(all(true), {counts, offsets}, back, root_, comm_);
    EXPECT_EQ(back, mine_);
    std::fill(back.begin(), back.end(), -1);
    const std::vector<double> source = all(false);
    Request request = scatterv_async(source, counts, back, root_, comm_);
    request.wait();
    EXPECT_EQ(back, mine_);
    Plan plan = plan_gatherv(mine_, dense, counts, root_, comm_);
    plan.start();
    plan.wait();
    EXPECT_EQ(dense, all(false));
    expect_alltoallv(counts, offsets);
    expect_reduce_scatter(counts);
  }
  /// Every rank sends r + 1 elements to rank r; all have the value of the sender.
  template <class Counts, class Offsets>
  void expect_alltoallv(const Counts& counts, const Offsets& offsets) {
    const std::vector<int> same(counts_.size(), world_rank() + 1);
    const std::vector<double> out(all(true).size(), world_rank());
    std::vector<double> in(counts_.size() * mine_.size(), -1), expected;
    for (int rank = 0; rank < world_size(); ++rank)
      expected.insert(expected.end(), mine_.size(), rank);
    alltoallv(out, {counts, offsets}, in, same, comm_);
    EXPECT_EQ(in, expected);
    std::fill(in.begin(), in.end(), -1);
    alltoallv(out.data(), {counts, offsets}, in.data(), {same, {}}, Type::fp64, comm_);
    EXPECT_EQ(in, expected);
  }
  template <class Counts>
  void expect_reduce_scatter(const Counts& counts) {
    std::vector<double> block(mine_.size(), -1);
    const std::vector<double> everything = all(false), expected(mine_.size(), world_rank() * world_size());
    reduce_scatter(everything, block, counts, Op::sum, comm_);
    EXPECT_EQ(block, expected);
    reduce_scatter_async(everything, block, counts, Op::sum, comm_).wait();
    EXPECT_EQ(block, expected);
    reduce_scatter(everything.data(), block.data(), counts, Type::fp64, Op::sum, comm_);
    EXPECT_EQ(block, expected);
  }

  Communicator comm_{MPI_COMM_WORLD};
  const Rank root_{0};
  const std::vector<double> mine_ = std::vector<double>(static_cast<std::size_t>(world_rank()) + 1, world_rank());
  List counts_, offsets_;
  int offset_ = 0;
};

TEST_F(CountLists, OfIntegersOfAnyKind) {
  expect_moves(counts_, offsets_);
  expect_moves(list_of<std::size_t>(counts_), list_of<short>(offsets_));
  expect_moves(list_of<Count>(counts_), list_of<std::uint64_t>(offsets_));
  expect_moves(list_of<std::int8_t>(counts_), list_of<Count>(offsets_));
}

TEST_F(CountLists, OfRangesOfAnyKind) {
  const std::vector<Count> counts = list_of<Count>(counts_);
  expect_moves(std::span{counts}, std::span{std::as_const(offsets_)});
  expect_moves(std::list<long>{counts_.begin(), counts_.end()}, offsets_);
  expect_moves(FromOne{world_size()}, offsets_);
  if (world_size() != 3) return;
  expect_moves(std::array<std::size_t, 3>{1, 2, 3}, offsets_);
  const long raw[]{0, 2, 5};
  expect_moves(counts_, raw);
}

TEST_F(CountLists, BlockListsStillDo) {
  const std::vector<Count> counts = list_of<Count>(counts_), offsets = list_of<Count>(offsets_);
  const BlockList spread{counts, offsets};
  std::vector<double> out(all(true).size(), -1);
  allgatherv(mine_, out, spread, comm_);
  EXPECT_EQ(out, all(true));
}

/// Only the root's lists count: those of the others are not even looked at.
TEST_F(CountLists, AreIgnoredWhereTheyDoNotCount) {
  const std::vector<std::uint64_t> nonsense(7, std::numeric_limits<std::uint64_t>::max());
  std::vector<double> out(all(false).size());
  if (comm_.rank() == root_)
    gatherv(mine_, out, counts_, root_, comm_);
  else
    gatherv(mine_, out, nonsense, root_, comm_);
  EXPECT_TRUE(comm_.rank() != root_ || out == all(false));
  std::vector<double> back(mine_.size());
  if (comm_.rank() == root_)
    scatterv(out, counts_, back, root_, comm_);
  else
    scatterv(out, {}, back, root_, comm_);
  EXPECT_EQ(back, mine_);
}

/// The numbers a call cannot take, each named with its position.
TEST_F(CountLists, RefuseNumbersThatAreNoCounts) {
  const std::string last = std::to_string(world_size() - 1), rank = " on rank " + std::to_string(world_rank());
  std::vector<double> out(all(true).size()), block(mine_.size());
  List negative = counts_;
  negative.back() = -5;
  const auto refused = [&](auto call, std::initializer_list<std::string> parts) {
    expect_throw<ArgumentError>(call, parts);
    expect_works(comm_);
  };
  refused([&] { allgatherv(mine_.data(), out.data(), negative, Type::fp64, comm_); },
          {"tutti::allgatherv" + rank, "'blocks'", "-5 elements for rank " + last});
  refused(
      [&] {
        allgatherv_async(mine_.data(), out.data(), {counts_, negative}, Type::fp64, comm_).wait();
      },
      {"tutti::allgatherv" + rank, "'blocks'", "at offset -5 for rank " + last});
  refused([&] { reduce_scatter(out.data(), out.data(), negative, Type::fp64, Op::sum, comm_); },
          {"tutti::reduce_scatter" + rank, "'counts'", "-5 elements for rank " + last});
  std::vector<std::uint64_t> large = list_of<std::uint64_t>(counts_);
  large.back() = std::uint64_t{1} << 63U;
  const std::string given = "a list with 9223372036854775808 at position " + last, allowed = "0 to 9223372036854775807";
  refused([&] { allgatherv(mine_, out, large, comm_); }, {"tutti::allgatherv" + rank, "'blocks'", given, allowed});
  refused(
      [&] {
        allgatherv(mine_, out, {counts_, large}, comm_);
      },
      {"tutti::allgatherv" + rank, "'blocks'", given, allowed});
  refused([&] { gatherv(mine_, out, large, comm_.rank(), comm_); }, {"tutti::gatherv" + rank, "'blocks'", given});
  refused([&] { scatterv(mine_, large, out, comm_.rank(), comm_); }, {"tutti::scatterv" + rank, "'blocks'", given});
  refused([&] { alltoallv(mine_, large, out, counts_, comm_); }, {"tutti::alltoallv" + rank, "'in_blocks'", given});
  refused([&] { alltoallv(mine_, counts_, out, large, comm_); }, {"tutti::alltoallv" + rank, "'out_blocks'", given});
  refused([&] { reduce_scatter(out, block, large, Op::sum, comm_); },
          {"tutti::reduce_scatter" + rank, "'counts'", given});
  large.back() = std::uint64_t{1} << 62U;  // a Count, but of no memory
  refused([&] { allgatherv(mine_.data(), out.data(), large, Type::fp64, comm_); },
          {"'blocks'", "4611686018427387904 elements for rank " + last, "elements of fp64 in all"});
}

TEST_F(CountLists, ThatDoNotFitTheBuffers) {
  std::vector<double> out(all(false).size() - 1), block(mine_.size() + 1);
  expect_throw<ArgumentError>([&] { allgatherv(mine_, out, counts_, comm_); },
                              {"'out' is a buffer of " + std::to_string(out.size()), "where the last block ends"});
  expect_throw<ArgumentError>([&] { allgatherv(block, out, counts_, comm_); },
                              {"'in' is a buffer of", std::to_string(mine_.size()) + " elements"});
  expect_throw<ArgumentError>([&] { reduce_scatter(all(false), block, counts_, Op::sum, comm_); },
                              {"'out' is a buffer of", std::to_string(mine_.size()) + " elements"});
  expect_throw<ArgumentError>(
      [&] { reduce_scatter(out, std::span{block}.first(mine_.size()), counts_, Op::sum, comm_); },
      {"'in' is a buffer of", "where the last block ends"});
  List longer = counts_;
  longer.push_back(1);
  expect_throw<ArgumentError>([&] { allgatherv(mine_.data(), block.data(), longer, Type::fp64, comm_); },
                              {"'blocks'", "a list of " + std::to_string(longer.size()) + " counts"});
  expect_works(comm_);
}

/// A list of Count is taken where it is; others are copied.
TEST(CountList, CopiesOnlyWhatIsNoListOfCounts) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<Count> counts{Count{1}, Count{2}};
  const std::array<Count, 2> fixed{Count{1}, Count{2}};
  EXPECT_EQ(CountList{counts}.checked("f", "counts", comm).data(), counts.data());
  EXPECT_EQ(CountList{std::span{counts}}.checked("f", "counts", comm).data(), counts.data());
  EXPECT_EQ(CountList{fixed}.checked("f", "counts", comm).data(), fixed.data());
  const std::array<std::int64_t, 2> integers{1, 2};
  const CountList made{integers};
  const CountList copy = made;
  EXPECT_TRUE(std::ranges::equal(copy.checked("f", "counts", comm), counts));
  EXPECT_TRUE(std::ranges::equal(made.checked("f", "counts", comm), counts));
}

static_assert(CountRange<std::vector<int>> && CountRange<std::array<std::size_t, 2>> && CountRange<std::span<Count>>);
static_assert(!CountRange<std::vector<bool>> && !CountRange<std::vector<double>> && !CountRange<Count>);

}  // namespace
}  // namespace tutti::test
