// Paths that only some allreduces take: users' functions, split messages, settings, ranks that differ in aliasing.
#include <algorithm>
#include <array>
#include <cmath>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/mpi/allreduce_cases.hpp"

namespace tutti::test {
namespace {

template <class T, class Combine>
void each_pair(const void* lhs, const void* rhs, void* into, Count count, Combine combine) {
  for (std::int64_t i = 0; i < count.value(); ++i) {
    T a, b;
    std::memcpy(&a, static_cast<const T*>(lhs) + i, sizeof(T));
    std::memcpy(&b, static_cast<const T*>(rhs) + i, sizeof(T));
    const T c = combine(a, b);
    std::memcpy(static_cast<T*>(into) + i, &c, sizeof(T));
  }
}

void add_saturating(const void* lhs, const void* rhs, void* into, Count count, void* /*context*/) {
  each_pair<std::uint8_t>(lhs, rhs, into, count,
                          [](int a, int b) { return static_cast<std::uint8_t>(std::min(a + b, 255)); });
}

/// x -> scale * x + shift, modulo 2^32. One after the other they make another map of this form; their order matters.
struct AffineMap {
  std::uint32_t scale = 1, shift = 0;
  friend AffineMap operator*(AffineMap a, AffineMap b) { return {a.scale * b.scale, a.scale * b.shift + a.shift}; }
  bool operator==(const AffineMap&) const = default;
};

void compose(const void* lhs, const void* rhs, void* into, Count count, void* /*context*/) {
  each_pair<AffineMap>(lhs, rhs, into, count, [](AffineMap a, AffineMap b) { return a * b; });
}

/// 2 x 2, modulo a prime.
using Matrix = std::array<std::int32_t, 4>;

Matrix product(const Matrix& a, const Matrix& b, std::int64_t prime) {
  const auto dot = [&](int row, int column) {
    const auto at = [](const Matrix& m, int place) { return std::int64_t{m[static_cast<std::size_t>(place)]}; };
    const std::int64_t sum = at(a, 2 * row) * at(b, column) + at(a, 2 * row + 1) * at(b, 2 + column);
    return static_cast<std::int32_t>(sum % prime);
  };
  return {dot(0, 0), dot(0, 1), dot(1, 0), dot(1, 1)};
}

void multiply(const void* lhs, const void* rhs, void* into, Count count, void* prime) {
  const std::int64_t modulus = *static_cast<const std::int64_t*>(prime);
  each_pair<Matrix>(lhs, rhs, into, count, [&](const Matrix& a, const Matrix& b) { return product(a, b, modulus); });
}

AffineMap affine_map(int rank, std::uint32_t i) {
  const auto mix = static_cast<std::uint32_t>(rank + 1);
  return {2 * (mix * 7919 + i) + 1, mix * 104729 + 31 * i};
}

Matrix matrix(int rank, std::int32_t i) { return {rank + 1, i % 97, 3 * rank + 2, i + 1}; }

/// Elements `of_rank(rank, i)` of `type`, which has their size; the result must be `join`, in the order of ranks.
template <class T, class OfRank, class Join>
void expect_folded(const Op& op, Type type, std::int64_t count, const Options& options, const Communicator& comm,
                   OfRank of_rank, Join join) {
  std::vector<T> data, expected;
  for (std::int64_t i = 0; i < count; ++i) {
    data.push_back(of_rank(world_rank(), i));
    T all = of_rank(0, i);
    for (int rank = 1; rank < world_size(); ++rank)
      all = join(all, of_rank(rank, i));
    expected.push_back(all);
  }
  std::vector<T> out(data.size());
  allreduce(data.data(), out.data(), Count{count}, type, op, comm, options);
  EXPECT_TRUE(out == expected) << "algorithm '" << options.algorithm << "', " << count << " elements";
  allreduce(data.data(), data.data(), Count{count}, type, op, comm, options);
  EXPECT_TRUE(data == expected) << "in place, algorithm '" << options.algorithm << "', " << count << " elements";
}

constexpr std::int64_t user_counts[] = {0, 1, 3, 37, 3000};  // the last is above the size at which the choice changes

TEST(UserOperation, Commutative) {
  const Communicator comm{MPI_COMM_WORLD};
  const Op op = Op::user(add_saturating, Commutative::yes);
  for (const std::string_view algorithm : algorithm_choices())
    for (const std::int64_t count : user_counts)
      expect_folded<std::uint8_t>(
          op, Type::uint8, count, {.algorithm = algorithm}, comm,
          [](int rank, std::int64_t i) { return static_cast<std::uint8_t>(i * (rank + 1) % 120); },
          [](int a, int b) { return static_cast<std::uint8_t>(std::min(a + b, 255)); });
}

/// The choices that combine in the order of ranks.
std::vector<std::string_view> ordered_choices() {
  std::vector<std::string_view> names = algorithm_choices();
  std::erase_if(names, [](std::string_view name) {
    return !name.empty() && find_algorithm(Collective::allreduce, name)->order != Order::of_ranks;
  });
  return names;
}

TEST(UserOperation, NotCommutative) {
  const Communicator comm{MPI_COMM_WORLD};
  const Op op = Op::user(compose, Commutative::no);
  EXPECT_GE(ordered_choices().size(), 2U);
  for (const std::string_view algorithm : ordered_choices())
    for (const std::int64_t count : user_counts)
      expect_folded<AffineMap>(
          op, Type::uint64, count, {.algorithm = algorithm}, comm,
          [](int rank, std::int64_t i) { return affine_map(rank, static_cast<std::uint32_t>(i)); },
          [](AffineMap a, AffineMap b) { return a * b; });
}

TEST(ScaledSum, DistinguishesTheSignsOfZero) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const double scale : {0.0, -0.0}) {
    double value = 1;
    allreduce(std::span<double>{&value, 1}, Op::scaled_sum(scale), comm);
    EXPECT_EQ(std::signbit(value), std::signbit(scale));
  }
}

TEST(UserOperation, GetsItsContext) {
  const Communicator comm{MPI_COMM_WORLD};
  // A function with another context is another operation: no plan may be mistaken for the other's.
  for (std::int64_t prime : {10007, 99991}) {
    const Op op = Op::user(multiply, Commutative::no, &prime);
    for (const std::string_view algorithm : ordered_choices())
      for (const std::int64_t count : user_counts)
        expect_folded<Matrix>(
            op, Type::complex_fp64, count, {.algorithm = algorithm}, comm,
            [](int rank, std::int64_t i) { return matrix(rank, static_cast<std::int32_t>(i)); },
            [&](const Matrix& a, const Matrix& b) { return product(a, b, prime); });
  }
}

TEST(Allreduce, RanksMayDifferInAliasing) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::string_view algorithm : algorithm_choices())
    for (const std::int64_t count : {1, 37, 5000}) {
      const BufferUse use = world_rank() == 0 ? BufferUse::in_place : BufferUse::separate;
      expect_right<std::int32_t>({algorithm, Way::blocking, use}, count, Op::sum, comm);
      const BufferUse other = world_rank() == 0 ? BufferUse::separate : BufferUse::mpi_in_place;
      expect_right<std::int32_t>({algorithm, Way::async, other}, count, Op::sum, comm);
    }
}

TEST(Allreduce, SplitsMessagesAtTheLimit) {
  // Rank 0's setting counts; the others' would make them hang if it were used.
  const Setting limit{"TUTTI_MESSAGE_LIMIT", world_rank() == 0 ? "1024" : "77"};
  const Communicator comm{MPI_COMM_WORLD};
  EXPECT_EQ(comm.state().route().mpi.message_limit, 1024);
  for (const std::string_view algorithm : algorithm_choices())
    for (const std::int64_t count : {127, 128, 129, 1000, 50'001})  // 128 doubles are one piece
      expect_right<double>({algorithm, Way::async, BufferUse::separate}, count, Op::sum, comm);
}

TEST(Allreduce, SplitsMessagesInsideElements) {
  const Setting limit{"TUTTI_MESSAGE_LIMIT", "13"};
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::string_view algorithm : algorithm_choices())
    for (const std::int64_t count : {1, 3, 37, 101})  // messages of a few hundred bytes are sent another way
      expect_right<std::complex<double>>({algorithm, Way::plan, BufferUse::in_place}, count, Op::prod, comm);
}

std::string_view chosen_algorithm(std::size_t count, const Op& op, const Communicator& comm) {
  std::vector<std::int64_t> data(count);
  const Plan plan = plan_allreduce(std::span{data}, op, comm);
  return plan.algorithm();
}

TEST(Choice, FollowsTheCall) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<float> data(10);
  for (const std::string_view algorithm : algorithm_choices()) {
    const Plan plan = plan_allreduce(std::span{data}, Op::sum, comm, {.algorithm = algorithm});
    EXPECT_NE(find_algorithm(Collective::allreduce, plan.algorithm()), nullptr);
    EXPECT_EQ(plan.algorithm(), algorithm.empty() ? plan.algorithm() : algorithm);
  }
}

TEST(Choice, FollowsTheEnvironmentOfRankZero) {
  for (const char* value : {"ring", "allreduce=ring"}) {
    const Setting setting{"TUTTI_ALGORITHM", world_rank() == 0 ? value : "nonsense"};
    const Communicator comm{MPI_COMM_WORLD};
    for (const std::size_t count : {std::size_t{1}, std::size_t{100'000}}) {
      EXPECT_EQ(chosen_algorithm(count, Op::sum, comm), "ring");
      // It cannot keep the order of ranks; a setting is for all calls, those that it does not fit are chosen for.
      EXPECT_NE(chosen_algorithm(count, Op::user(compose, Commutative::no), comm), "ring");
    }
    expect_right<std::int32_t>({"", Way::plan, BufferUse::separate}, 1000, Op::sum, comm);
    std::vector<float> data(10);
    const Plan plan = plan_allreduce(std::span{data}, Op::sum, comm, {.algorithm = "rabenseifner"});
    EXPECT_EQ(plan.algorithm(), "rabenseifner") << "the call counts before the environment";
  }
}

TEST(Choice, RefusesNonsenseInTheEnvironmentOnAllRanks) {
  const auto make = [] { const Communicator comm{MPI_COMM_WORLD}; };
  if (world_rank() == 0) setenv("TUTTI_ALGORITHM", "nonsense", 1);
  expect_throw<ArgumentError>(make, {"TUTTI_ALGORITHM", "'nonsense'", "recursive_doubling", "ring", "rabenseifner"});
  unsetenv("TUTTI_ALGORITHM");
  for (const char* name : {"TUTTI_MESSAGE_LIMIT", "TUTTI_PLAN_CACHE"})
    for (const char* value : {"0", "-1", "12x", "99999999999999999999"}) {
      const Setting setting{name, value};
      expect_throw<ArgumentError>(make, {name, std::string{"'"} + value + "'", "1 to "});
    }
  expect_works(Communicator{MPI_COMM_WORLD});
}

/// The run with TUTTI_TEST_TAG_UB=32767 shows that it has effect on contexts, and on operations and messages at a time.
TEST(Tags, AreAsFewAsTheSettingSays) {
  if (std::getenv("TUTTI_TEST_TAG_UB") == nullptr) GTEST_SKIP() << "TUTTI_TEST_TAG_UB is not set";
  const Communicator comm{MPI_COMM_WORLD};
  EXPECT_EQ(comm.state().route().mpi.tags.contexts(), 1024);
  EXPECT_EQ(comm.state().route().mpi.tags.sequences(), 8);
  EXPECT_EQ(comm.state().route().mpi.tags.messages(), 4);
}

}  // namespace
}  // namespace tutti::test
