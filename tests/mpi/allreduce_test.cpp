// Every type, operation, count, algorithm and way to call, against the MPI's own results where it has them.
#include <algorithm>
#include <cmath>

#include "tests/mpi/allreduce_cases.hpp"

namespace tutti::test {
namespace {

const std::vector<Op>& all_operations() {
  // The scale is exact in every type.
  static const std::vector<Op> all{Op::sum, Op::prod, Op::min,  Op::max, Op::avg,  Op::land,
                                   Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor, Op::scaled_sum(-0.375)};
  return all;
}

std::vector<std::int64_t> all_counts() {
  const int size = world_size();
  std::vector<std::int64_t> counts{0, 1, 3, size - 1, size, size + 1, 37, 1000};
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

/// Runs through all ways to call, one after the other.
class Rotation {
 public:
  Call next(std::string_view algorithm) {
    const int turn = turn_++;
    return {algorithm, static_cast<Way>(turn % ways), static_cast<BufferUse>(turn / ways % buffer_uses)};
  }

 private:
  int turn_ = 0;
};

// The whole product is too much. Here: all types, operations and algorithms, with two counts and the ways to call in
// turn; below: all counts, algorithms and ways to call with a few types.
TEST(Allreduce, EveryTypeAndOperation) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::string_view algorithm : algorithm_choices()) {
    Rotation rotation;
    for_each_type(AllTypes{}, [&]<class T>() {
      for (const Op& op : all_operations()) {
        if (!supports(op.kind(), type_of<T>)) continue;
        expect_right<T>(rotation.next(algorithm), 3, op, comm);
        expect_right<T>(rotation.next(algorithm), 37, op, comm);
      }
    });
  }
}

TEST(Allreduce, EveryCountAndWayToCall) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::string_view algorithm : algorithm_choices())
    for (const std::int64_t count : all_counts())
      for (int turn = 0; turn < ways * buffer_uses; ++turn) {
        const Call call{algorithm, static_cast<Way>(turn % ways), static_cast<BufferUse>(turn / ways)};
        expect_right<std::int32_t>(call, count, Op::sum, comm);
        expect_right<Half>(call, count, Op::max, comm);
        expect_right<double>(call, count, Op::avg, comm);
        expect_right<std::complex<double>>(call, count, Op::prod, comm);
      }
}

TEST(Allreduce, OneMebibyteAndAnElement) {
  constexpr std::int64_t bytes = 1 << 20;
  const Communicator comm{MPI_COMM_WORLD};
  Rotation rotation;
  for (const std::string_view algorithm : algorithm_choices()) {
    expect_right<float>(rotation.next(algorithm), bytes / 4 + 1, Op::sum, comm);
    expect_right<std::uint8_t>(rotation.next(algorithm), bytes + 1, Op::bxor, comm);
    expect_right<std::complex<float>>(rotation.next(algorithm), bytes / 8 + 1, Op::scaled_sum(0.5), comm);
  }
}

TEST(Allreduce, AverageOfIntegersIsTowardsZero) {
  const Communicator comm{MPI_COMM_WORLD};
  const int size = world_size();
  for (const std::string_view algorithm : algorithm_choices()) {
    std::vector<std::int16_t> data{1, -1};
    if (world_rank() == 0) data = {2, -2};
    allreduce(std::span{data}, Op::avg, comm, {.algorithm = algorithm});
    const std::int16_t expected = size == 1 ? 2 : 1;  // (p + 1) / p
    EXPECT_EQ(data[0], expected);
    EXPECT_EQ(data[1], -expected);
  }
}

/// Numbers of magnitude 1 at most, which round in every sum and product; every rank can compute every other's.
double anything(int rank, std::int64_t i) {
  std::uint64_t bits = static_cast<std::uint64_t>(rank + 1) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(i);
  for (int round = 0; round < 3; ++round) {
    bits ^= bits >> 31U;
    bits *= 0xbf58476d1ce4e5b9U;
  }
  const double fraction = static_cast<double>(bits >> 12U) / static_cast<double>(std::uint64_t{1} << 52U) - 0.5;
  return std::ldexp(fraction, static_cast<int>(bits % 7) - 5);
}

template <class T>
double value_of(const T& element) {
  if constexpr (is_complex(type_of<T>))
    return element.real();
  else if constexpr (sizeof(T) <= 2)
    return static_cast<float>(element);
  else
    return element;
}

template <class T>
constexpr double unit_in_last_place() {
  if constexpr (std::is_same_v<T, Float8E4M3>) return 0x1p-3;
  if constexpr (std::is_same_v<T, Float8E5M2>) return 0x1p-2;
  if constexpr (std::is_same_v<T, Half>) return 0x1p-10;
  if constexpr (std::is_same_v<T, BFloat16>) return 0x1p-7;
  return type_of<T> == Type::fp32 || type_of<T> == Type::complex_fp32 ? 0x1p-23 : 0x1p-52;
}

/// The error of a sum is at most (p - 1) half units in the last place of the sum of magnitudes.
template <class T>
void expect_close(const std::vector<T>& sum) {
  for (std::size_t i = 0; i < sum.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    double exact = 0, magnitude = 0;
    for (int rank = 0; rank < world_size(); ++rank) {
      const double addend = value_of(element<T>(anything(rank, index), anything(rank, index + 5)));
      exact += addend;
      magnitude += std::abs(addend);
    }
    const double bound = world_size() * unit_in_last_place<T>() * magnitude;
    if (std::abs(value_of(sum[i]) - exact) > bound) {
      ADD_FAILURE() << to_string(type_of<T>) << ": element " << i << " of " << sum.size() << " is " << value_of(sum[i])
                    << ", not " << exact;
      return;
    }
  }
}

template <class T>
void expect_same_bits_everywhere(const Call& call, std::int64_t count, const Communicator& comm) {
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i)
    data.push_back(element<T>(anything(world_rank(), i), anything(world_rank(), i + 5)));
  const std::vector<T> sum = result_of(call, data, Op::sum, comm);
  expect_same_bytes(sum.data(), sum.size() * sizeof(T));
  expect_close(sum);
  const std::vector<T> product = result_of(call, data, Op::prod, comm);
  expect_same_bytes(product.data(), product.size() * sizeof(T));
}

TEST(Allreduce, InexactResultsHaveTheSameBitsOnAllRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  Rotation rotation;
  using Inexact =
      Types<Float8E4M3, Float8E5M2, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>;
  for (const std::string_view algorithm : algorithm_choices())
    for_each_type(Inexact{}, [&]<class T>() {
      expect_same_bits_everywhere<T>(rotation.next(algorithm), 37, comm);
      expect_same_bits_everywhere<T>(rotation.next(algorithm), 3001, comm);
    });
}

}  // namespace
}  // namespace tutti::test
