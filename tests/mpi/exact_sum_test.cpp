// Op::exact_sum: every result is the exact sum of all ranks' operands, rounded once. Each is compared with the kernel's
// sum of all inputs, which exact_sum_test of the engine compares with integers of any length.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "lib/core/reduce/kernels.hpp"
#include "tests/mpi/allreduce_cases.hpp"
#include "tests/mpi/gathering_cases.hpp"

namespace tutti::test {
namespace {

/// Numbers that cancel: of each pair of ranks the second has nearly the opposite of the first.
template <class T>
std::vector<T> terms(int rank, std::int64_t count, unsigned seed) {
  std::mt19937 random{seed * 1000 + static_cast<unsigned>(rank / 2)},
      own{seed * 1000 + 500 + static_cast<unsigned>(rank)};
  std::uniform_real_distribution<double> digits{-1, 1};
  const double sign = rank % 2 == 0 ? 1 : -1;
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i) {
    const double shared = std::ldexp(digits(random), static_cast<int>(random() % 12));
    const double small = std::ldexp(digits(own), -static_cast<int>(own() % 12));
    data.push_back(element<T>(sign * shared + small, small - sign * shared / 3));
  }
  return data;
}

/// The sums of ranks 0 to `last`.
template <class T>
std::vector<T> exact(std::int64_t count, unsigned seed, int last) {
  std::vector<std::vector<T>> inputs;
  std::vector<const void*> pointers;
  for (int rank = 0; rank <= last; ++rank)
    inputs.push_back(terms<T>(rank, count, seed));
  for (const auto& each : inputs)
    pointers.push_back(each.data());
  std::vector<T> sums = inputs[0];
  if (last > 0)
    reduce_many_kernel(Op::Kind::exact_sum, type_of<T>)(pointers.data(), pointers.size(), sums.data(), nullptr,
                                                        static_cast<std::size_t>(count));
  return sums;
}

template <class T>
void expect_exact(std::int64_t count, const std::string& algorithm, Collective collective, const Communicator& comm,
                  unsigned seed) {
  const Options options{.algorithm = algorithm};
  const int rank = world_rank(), size = world_size(), root = static_cast<int>(seed % static_cast<unsigned>(size));
  const auto share = static_cast<std::size_t>(count);
  SCOPED_TRACE(fmt::format("{} '{}', {} elements of {}, root {}", to_string(collective), algorithm, count,
                           to_string(type_of<T>), root));
  if (collective == Collective::reduce_scatter) {
    const std::vector<T> in = terms<T>(rank, count * size, seed), want = exact<T>(count * size, seed, size - 1);
    std::vector<T> out(share);
    reduce_scatter(std::span{in}, std::span{out}, Op::exact_sum, comm, options);
    EXPECT_TRUE(same<T>(out, std::span{want}.subspan(share * static_cast<std::size_t>(rank), share)));
    return;
  }
  const std::vector<T> in = terms<T>(rank, count, seed);
  std::vector<T> out(share), in_place = in;
  switch (collective) {
    case Collective::allreduce: {
      const std::vector<T> want = exact<T>(count, seed, size - 1);
      allreduce(std::span{in}, std::span{out}, Op::exact_sum, comm, options);
      EXPECT_TRUE(same<T>(out, want));
      allreduce(std::span{in_place}, std::span{in_place}, Op::exact_sum, comm, options);
      EXPECT_TRUE(same<T>(in_place, want)) << "in place";
      std::ranges::fill(out, T{});
      allreduce_async(std::span{in}, std::span{out}, Op::exact_sum, comm, options).wait();
      EXPECT_TRUE(same<T>(out, want)) << "nonblocking";
      Plan plan = plan_allreduce(std::span{in}, std::span{out}, Op::exact_sum, comm, options);
      std::ranges::fill(out, T{});
      plan.start();
      plan.wait();
      EXPECT_TRUE(same<T>(out, want)) << "persistent";
      break;
    }
    case Collective::reduce:
      reduce(std::span{in}, std::span{out}, Op::exact_sum, Rank{root}, comm, options);
      EXPECT_TRUE(rank != root || same<T>(out, exact<T>(count, seed, size - 1)));
      reduce(std::span{in_place}, std::span{in_place}, Op::exact_sum, Rank{root}, comm, options);
      EXPECT_TRUE(rank != root || same<T>(in_place, out)) << "in place";
      break;
    case Collective::scan:
      scan(std::span{in}, std::span{out}, Op::exact_sum, comm, options);
      EXPECT_TRUE(same<T>(out, exact<T>(count, seed, rank)));
      scan(std::span{in_place}, std::span{in_place}, Op::exact_sum, comm, options);
      EXPECT_TRUE(same<T>(in_place, out)) << "in place";
      break;
    case Collective::exscan:
      exscan(std::span{in}, std::span{out}, Op::exact_sum, comm, options);
      EXPECT_TRUE(rank == 0 || same<T>(out, exact<T>(count, seed, rank - 1)));
      exscan(std::span{in_place}, std::span{in_place}, Op::exact_sum, comm, options);
      EXPECT_TRUE(rank == 0 || same<T>(in_place, out)) << "in place";
      break;
    default:
      FAIL() << "no reduction";
  }
}

class ExactSums : public testing::TestWithParam<Collective> {};
INSTANTIATE_TEST_SUITE_P(Every, ExactSums,
                         testing::Values(Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                                         Collective::scan, Collective::exscan),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

using Exact = Types<Half, BFloat16, float, double, std::complex<float>, std::complex<double>>;
constexpr std::array<std::int64_t, 8> counts{0, 1, 7, 64, 1000, 4099, 20'001, 150'001};

TEST_P(ExactSums, AreRoundedOnce) {
  const Communicator comm{MPI_COMM_WORLD};
  unsigned seed = 1;
  for (const std::string& algorithm : choices(GetParam()))
    for_each_type(Exact{}, [&]<class T>() {
      for (const std::int64_t count : counts) {
        const std::int64_t most = algorithm.ends_with("/256") ? 5000 : std::is_same_v<T, float> ? 200'000 : 20'000;
        if (count < most) expect_exact<T>(count, algorithm, GetParam(), comm, ++seed);
      }
    });
}

/// The sum of all ranks is the same where Bits::fixed is asked for.
TEST_P(ExactSums, KeepTheFixedOrderToo) {
  const Communicator comm{MPI_COMM_WORLD, {.bits = Bits::fixed}};
  expect_exact<float>(1000, "", GetParam(), comm, 5);
}

/// Two ranks' sums are exact by any algorithm; the sums of more only where all operands come together.
TEST(ExactSumOptions, NameTheAlgorithmsThatServe) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<float> data(8, 1.0F);
  std::string error;
  try {
    allreduce(std::span{std::as_const(data)}, std::span{data}, Op::exact_sum, comm, {.algorithm = "ring"});
  } catch (const ArgumentError& refused) {
    error = refused.what();
  }
  if (world_size() <= 2)
    EXPECT_EQ(error, "");
  else
    EXPECT_THAT(error,
                testing::HasSubstr("argument 'algorithm' is 'ring' with exact_sum, though partial results travel; "
                                   "allowed: one_shot, two_shot, exchange"));
}

TEST(ExactSumOptions, ArePassedOverWhereTheUsersAlgorithmDoesNotServe) {
  const Communicator comm{MPI_COMM_WORLD, {.algorithms = "allreduce=ring"}};
  expect_exact<float>(100, "", Collective::allreduce, comm, 3);
}

TEST(ExactSumOptions, RefuseIntegers) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<int> data(8, 1);
  try {
    allreduce(std::span{std::as_const(data)}, std::span{data}, Op::exact_sum, comm);
    FAIL() << "taken";
  } catch (const ArgumentError& refused) {
    EXPECT_THAT(refused.what(),
                testing::HasSubstr("argument 'op' is exact_sum with type int32; allowed: exact_sum with "
                                   "one of fp16, bf16, fp32, fp64, complex_fp32, complex_fp64"));
  }
}

/// Blocks of any sizes.
TEST(ExactSumsOfBlocks, AreRoundedOnce) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<Count> counts_of;
  std::vector<std::size_t> begins;
  std::int64_t end = 0;
  for (int rank = 0; rank < world_size(); ++rank) {
    begins.push_back(static_cast<std::size_t>(end));
    counts_of.emplace_back((rank + 1) * 37 % 100);
    end += counts_of.back().value();
  }
  const std::vector<double> in = terms<double>(world_rank(), end, 8), want = exact<double>(end, 8, world_size() - 1);
  const auto own = static_cast<std::size_t>(world_rank());
  std::vector<double> out(static_cast<std::size_t>(counts_of[own].value()));
  for (const std::string& algorithm : choices(Collective::reduce_scatter)) {
    reduce_scatter(std::span{in}, std::span{out}, counts_of, Op::exact_sum, comm, {.algorithm = algorithm});
    EXPECT_TRUE(same<double>(out, std::span{want}.subspan(begins[own], out.size()))) << algorithm;
  }
}

}  // namespace
}  // namespace tutti::test
