// Reductions of distributed arrays: the same bits for every number of ranks and all cuts, which a recursion over the
// whole array computes here.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>

#include "tests/support/mpi_support.hpp"
#include "tutti/array_reduction.hpp"

namespace tutti::test {
namespace {

using testing::HasSubstr;

/// Ill-conditioned: the sum is far smaller than the elements.
template <class T>
std::vector<T> numbers(std::int64_t count, unsigned seed) {
  std::mt19937_64 random{seed};
  std::uniform_real_distribution<double> digits{-1, 1};
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i)
    data.push_back(static_cast<T>(std::ldexp(digits(random), static_cast<int>(random() % 40) - 20)));
  return data;
}

/// The tree over elements begin to end - 1: the left part is the largest power of two that leaves a right part.
template <class T>
T reference(std::span<const T> x, std::size_t begin, std::size_t end) {
  if (end - begin == 1) return x[begin];
  const std::size_t left = std::bit_floor(end - begin - 1);
  return reference(x, begin, begin + left) + reference(x, begin + left, end);
}

/// The cuts of an array between all ranks, at random; some blocks are empty. The same on all ranks.
std::vector<std::int64_t> cuts_of(std::int64_t count, unsigned seed) {
  std::mt19937_64 random{seed};
  std::vector<std::int64_t> cuts{0, count};
  for (int rank = 1; rank < world_size(); ++rank)
    cuts.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(count + 1)));
  std::ranges::sort(cuts);
  return cuts;
}

template <class T>
std::span<const T> block_of(const std::vector<T>& array, const std::vector<std::int64_t>& cuts, std::size_t block) {
  const auto begin = static_cast<std::size_t>(cuts[block]), end = static_cast<std::size_t>(cuts[block + 1]);
  return std::span{array}.subspan(begin, end - begin);
}

template <class T>
bool same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
void expect_the_same_for_all_cuts(std::int64_t count, const Communicator& comm) {
  const std::vector<T> x = numbers<T>(count, 1), y = numbers<T>(count, 2);
  std::vector<T> products;
  for (std::size_t i = 0; i < x.size(); ++i)
    products.push_back(x[i] * y[i]);
  const T sum_of_all = reference<T>(x, 0, x.size()), dot_of_all = reference<T>(products, 0, products.size());
  for (unsigned seed = 0; seed < 10; ++seed) {
    const std::vector<std::int64_t> cuts = cuts_of(count, seed);
    const auto rank = static_cast<std::size_t>(world_rank());
    const std::size_t mirrored = static_cast<std::size_t>(world_size()) - 1 - rank;
    EXPECT_TRUE(same_bits(sum(block_of(x, cuts, rank), comm), sum_of_all)) << count << " elements, seed " << seed;
    EXPECT_TRUE(same_bits(sum(block_of(x, cuts, mirrored), comm, Count{cuts[mirrored]}), sum_of_all))
        << count << " elements, blocks in the other order, seed " << seed;
    EXPECT_TRUE(same_bits(dot(block_of(x, cuts, rank), block_of(y, cuts, rank), comm), dot_of_all))
        << count << " elements, seed " << seed;
  }
}

TEST(ArrayReduction, HasTheSameBitsForAllCuts) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::int64_t count : {1, 2, 3, 7, 64, 1000, 1024, 5000, 100'000}) {
    expect_the_same_for_all_cuts<double>(count, comm);
    expect_the_same_for_all_cuts<float>(count, comm);
  }
}

TEST(ArrayReduction, OfNormsHasNoNeedlessOverflow) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> norms;
  for (const double scale : {1.0, 0x1p+700, 0x1p-700}) {
    std::vector<double> x = numbers<double>(3000, 4);
    for (double& each : x)
      each *= scale;
    const std::vector<std::int64_t> cuts = cuts_of(3000, 5);
    norms.push_back(norm2(block_of(x, cuts, static_cast<std::size_t>(world_rank())), comm) / scale);
  }
  EXPECT_GT(norms[0], 0);
  EXPECT_NEAR(norms[1] / norms[0], 1, 1e-15);
  EXPECT_NEAR(norms[2] / norms[0], 1, 1e-15);
  EXPECT_EQ(norm2(std::vector<float>{}, comm), 0);
}

void take_first(const void* lhs, const void* /*rhs*/, void* into, Count count, void* /*context*/) {
  std::memmove(into, lhs, static_cast<std::size_t>(count.value()) * sizeof(std::int64_t));
}

TEST(ArrayReduction, TakesAnyOperationInTheOrderOfElements) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<std::int64_t> x(500);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<std::int64_t>((i * 37 + 11) % 499);
  const std::vector<std::int64_t> cuts = cuts_of(500, 8);
  const auto own = block_of(x, cuts, static_cast<std::size_t>(world_rank()));
  EXPECT_EQ(reduce_array(own, Op::max, comm), 498);
  EXPECT_EQ(reduce_array(own, Op::user(take_first, Commutative::no), comm), 11);
  EXPECT_EQ(sum(own, comm), reference<std::int64_t>(x, 0, x.size()));
}

template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "";
}

TEST(ArrayReduction, RefusesBlocksThatMakeUpNoArray) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<double> x(10, 1.0);
  const std::int64_t begin = 10 * world_rank();
  EXPECT_EQ(sum(x, comm, Count{begin}), 10.0 * world_size());
  const auto shifted = [&](std::int64_t by) { return error_of([&] { (void)sum(x, comm, Count{begin + by}); }); };
  EXPECT_THAT(shifted(1), HasSubstr("argument 'offset' is 1 on rank 0, where the elements before end at 0"));
  EXPECT_THAT(shifted(-1), HasSubstr("allowed: 0 or more"));
  if (world_size() > 1) {
    EXPECT_THAT(error_of([&] { (void)sum(x, comm, Count{0}); }), HasSubstr("blocks without gaps that do not overlap"));
    EXPECT_THAT(error_of([&] { (void)sum(x, comm, world_rank() == 0 ? std::optional{Count{0}} : std::nullopt); }),
                HasSubstr("argument 'offset' is nothing on rank 1; allowed: an offset on every rank, or on none"));
  }
  EXPECT_THAT(error_of([&] { (void)reduce_array(std::vector<double>{}, Op::max, comm); }),
              HasSubstr("no element on any"));
  EXPECT_EQ(sum(std::vector<double>{}, comm), 0);
  EXPECT_THAT(error_of([&] { (void)reduce_array(x, Op::avg, comm); }),
              HasSubstr("argument 'op' is avg; allowed: an operation that does the same at every step"));
}

TEST(ArrayReduction, RefusesOtherCallsOnOtherRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  if (world_size() == 1) GTEST_SKIP() << "one rank";
  const std::vector<double> x(10, 1.0);
  const std::vector<std::int64_t> numbers(10, 1);
  const bool is_first = world_rank() == 0;
  expect_throw<MismatchError>([&] { (void)reduce_array(x, is_first ? Op::max : Op::sum, comm); },
                              {"ranks 0 and 1 call with other types or operations", is_first ? "max" : "sum"});
  expect_throw<MismatchError>([&] { is_first ? (void)sum(x, comm) : (void)sum(numbers, comm); }, {"ranks 0 and 1"});
  expect_throw<MismatchError>([&] { is_first ? (void)sum(x, comm) : (void)norm2(x, comm); }, {"other functions"});
  EXPECT_EQ(sum(x, comm), 10.0 * world_size());
}

void fail(const void* /*lhs*/, const void* /*rhs*/, void* /*into*/, Count /*count*/, void* context) {
  if (context != nullptr) throw std::runtime_error{"no such number"};
}

/// As in every reduction: the rank says why, and nobody waits for it.
TEST(ArrayReduction, FailsOnAllRanksWhereAUsersFunctionThrows) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<double> x(10, 1.0);
  int thrower = 0;
  const bool throws = world_rank() == world_size() - 1;
  expect_throw<Error>(
      [&] { (void)reduce_array(x, Op::user(fail, Commutative::yes, throws ? &thrower : nullptr), comm); },
      {"no such number"});
  EXPECT_THAT(std::string{comm.status()}, HasSubstr("no such number"));
  EXPECT_THROW((void)sum(x, comm), Error);
}

/// Which of two NaNs an addition gives depends on their order.
TEST(ArrayReduction, HasOneNaN) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<double> x{1.0, -std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::signaling_NaN()};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(same_bits(sum(x, comm), nan));
  EXPECT_TRUE(same_bits(norm2(x, comm), nan));
  EXPECT_TRUE(same_bits(reduce_array(x, Op::exact_sum, comm), nan));
}

TEST(ArrayReduction, OfExactSumsIsRoundedOnce) {
  const Communicator comm{MPI_COMM_WORLD};
  const std::vector<float> large{1e30F, 1.0F, -1e30F}, none;
  EXPECT_EQ(reduce_array(large, Op::exact_sum, comm), static_cast<float>(world_size()));
  EXPECT_EQ(reduce_array(none, Op::exact_sum, comm), 0);
  const std::vector<std::complex<double>> parts{{1e300, 1}, {-1e300, 1e-300}, {3, -1}};
  EXPECT_EQ(reduce_array(parts, Op::exact_sum, comm),
            (std::complex<double>{3.0 * world_size(), 1e-300 * world_size()}));
}

}  // namespace
}  // namespace tutti::test
