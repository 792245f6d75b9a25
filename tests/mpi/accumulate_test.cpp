// Options::accumulate: every element is the sum of all ranks' operands in the wider type, in the order of ranks,
// rounded once. Each is compared with the kernel's sum of all inputs, which accumulate_test of the engine proves.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "lib/core/reduce/kernels.hpp"
#include "tests/mpi/allreduce_cases.hpp"
#include "tests/mpi/gathering_cases.hpp"

namespace tutti::test {
namespace {

/// Numbers of many magnitudes, of which every order has another sum.
template <class T>
std::vector<T> terms(int rank, std::int64_t count, unsigned seed) {
  std::mt19937 random{seed * 1000 + static_cast<unsigned>(rank)};
  std::uniform_real_distribution<double> digits{-1, 1};
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i)
    data.push_back(element<T>(std::ldexp(digits(random), static_cast<int>(random() % 20) - 12), 0));
  return data;
}

struct Way {
  Op op;
  Type wide;
  Rounding rounding = Rounding::nearest;
  [[nodiscard]] Options options(std::string_view algorithm) const {
    return {.algorithm = algorithm, .accumulate = wide, .rounding = rounding};
  }
};

/// The sums of ranks 0 to `last`.
template <class T>
std::vector<T> wanted(std::int64_t count, unsigned seed, int last, const Way& way) {
  std::vector<std::vector<T>> inputs;
  std::vector<const void*> pointers;
  for (int rank = 0; rank <= last; ++rank)
    inputs.push_back(terms<T>(rank, count, seed));
  for (const auto& each : inputs)
    pointers.push_back(each.data());
  std::vector<T> sums = inputs[0];
  if (last > 0)
    reduce_many_kernel(detail::accumulating(way.op, way.wide, way.rounding), type_of<T>)(
        pointers.data(), pointers.size(), sums.data(), nullptr, static_cast<std::size_t>(count));
  return sums;
}

template <class T>
void expect_allreduce(std::span<const T> in, std::span<const T> want, const Way& way, const Communicator& comm,
                      const Options& options) {
  std::vector<T> out(in.size()), in_place{in.begin(), in.end()};
  allreduce(in, std::span{out}, way.op, comm, options);
  EXPECT_TRUE(same<T>(out, want));
  allreduce(std::span{in_place}, std::span{in_place}, way.op, comm, options);
  EXPECT_TRUE(same<T>(in_place, want)) << "in place";
  std::ranges::fill(out, T{});
  allreduce_async(in, std::span{out}, way.op, comm, options).wait();
  EXPECT_TRUE(same<T>(out, want)) << "nonblocking";
  Plan plan = plan_allreduce(in, std::span{out}, way.op, comm, options);
  std::ranges::fill(out, T{});
  plan.start();
  plan.wait();
  EXPECT_TRUE(same<T>(out, want)) << "persistent";
}

template <class T>
void expect_scan(std::span<const T> in, unsigned seed, const Way& way, const Communicator& comm,
                 const Options& options) {
  const int rank = world_rank();
  const auto count = static_cast<std::int64_t>(in.size());
  std::vector<T> out(in.size());
  scan(in, std::span{out}, way.op, comm, options);
  EXPECT_TRUE(same<T>(out, wanted<T>(count, seed, rank, way)));
  exscan(in, std::span{out}, way.op, comm, {.accumulate = way.wide, .rounding = way.rounding});
  EXPECT_TRUE(rank == 0 || same<T>(out, wanted<T>(count, seed, rank - 1, way)));
}

template <class T>
void expect_wide(std::int64_t count, const std::string& algorithm, Collective collective, const Way& way,
                 const Communicator& comm, unsigned seed) {
  const Options options = way.options(algorithm);
  const int rank = world_rank(), size = world_size(), root = static_cast<int>(seed % static_cast<unsigned>(size));
  const auto share = static_cast<std::size_t>(count);
  SCOPED_TRACE(fmt::format("{} '{}', {} elements of {} in {}, {}, {}", to_string(collective), algorithm, count,
                           to_string(type_of<T>), to_string(way.wide), to_string(way.op.kind()),
                           to_string(way.rounding)));
  const std::int64_t length = collective == Collective::reduce_scatter ? count * size : count;
  const std::vector<T> in = terms<T>(rank, length, seed);
  if (collective == Collective::scan) return expect_scan<T>(in, seed, way, comm, options);
  const std::vector<T> want = wanted<T>(length, seed, size - 1, way);
  if (collective == Collective::allreduce) return expect_allreduce<T>(in, want, way, comm, options);
  std::vector<T> out(share);
  if (collective == Collective::reduce_scatter) {
    reduce_scatter(std::span{in}, std::span{out}, way.op, comm, options);
    EXPECT_TRUE(same<T>(out, std::span{want}.subspan(share * static_cast<std::size_t>(rank), share)));
  } else {
    reduce(std::span{in}, std::span{out}, way.op, Rank{root}, comm, options);
    EXPECT_TRUE(rank != root || same<T>(out, want));
  }
}

template <class T>
std::vector<Way> ways(Collective collective) {
  std::vector<Way> all;
  for (const Type wide : {Type::fp32, Type::fp64})
    for (const Op& op : {Op::sum, Op::avg})
      for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
        if (accumulates(type_of<T>, wide) && !(collective == Collective::scan && op == Op::avg))
          all.push_back({op, wide, rounding});
  return all;
}

using Narrow = Types<Float8E4M3, Float8E5M2, Half, BFloat16, float>;

class WideSums : public testing::TestWithParam<Collective> {};
INSTANTIATE_TEST_SUITE_P(Every, WideSums,
                         testing::Values(Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                                         Collective::scan),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

/// All algorithms and sizes give the bits of one order: that is what Bits::fixed promises.
TEST_P(WideSums, HaveTheBitsOfTheOrderOfRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  unsigned seed = 1;
  for (const std::string& algorithm : choices(GetParam()))
    for_each_type(Narrow{}, [&]<class T>() {
      for (const Way& way : ways<T>(GetParam()))
        for (const std::int64_t count : {0, 1, 7, 64, 1000, 4099, 40'001})
          if (count < (algorithm.ends_with("/256") ? 1500 : type_of<T> == Type::bf16 ? 100'000 : 5000))
            expect_wide<T>(count, algorithm, GetParam(), way, comm, ++seed);
    });
}

TEST_P(WideSums, ServeWhereTheFixedOrderIsAskedFor) {
  const Communicator comm{MPI_COMM_WORLD, {.bits = Bits::fixed}};
  expect_wide<BFloat16>(1000, "", GetParam(), {Op::sum, Type::fp32}, comm, 5);
}

TEST(WideSumOptions, PassOverAlgorithmsThatDoNotServe) {
  const Communicator comm{MPI_COMM_WORLD, {.algorithms = "allreduce=ring"}};
  expect_wide<BFloat16>(100, "", Collective::allreduce, {Op::sum, Type::fp32}, comm, 3);
}

/// A call that repeats another one but for the option is another call.
TEST(WideSumOptions, TellCallsApart) {
  const Communicator comm{MPI_COMM_WORLD};
  const auto rank = static_cast<float>(world_rank());
  const std::vector<BFloat16> in(4, BFloat16{rank == 0 ? 256.0F : 1.0F});
  std::vector<BFloat16> out(4);
  const auto sum = [&](const Options& options) {
    allreduce(std::span{in}, std::span{out}, Op::sum, comm, options);
    return static_cast<float>(out[0]);
  };
  const float wide = static_cast<float>(BFloat16{255.0F + static_cast<float>(world_size())});
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(sum({.accumulate = Type::fp32}), wide);
    static_cast<void>(sum({}));
    if (world_size() == 2) {
      EXPECT_EQ(static_cast<float>(out[0]), 256.0F);  // a tie
    }
    const float stochastic = sum({.accumulate = Type::fp32, .rounding = Rounding::stochastic});
    EXPECT_LE(std::abs(stochastic - 255 - static_cast<float>(world_size())), 2);
  }
}

TEST(WideSumOptions, AreExplained) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<BFloat16> data(8);
  const auto explained = [&](const Options& options) {
    return plan_allreduce(std::span{data}, std::span{data}, Op::sum, comm, options).explain();
  };
  EXPECT_THAT(explained({.accumulate = Type::fp32}), testing::HasSubstr("; operands are added in fp32"));
  EXPECT_THAT(explained({.accumulate = Type::fp64, .rounding = Rounding::stochastic}),
              testing::HasSubstr("; operands are added in fp64, rounded stochastically"));
  EXPECT_THAT(explained({}), testing::Not(testing::HasSubstr("operands are added")));
}

template <class T>
std::string refusal(const Op& op, const Options& options) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<T> data(8);
  try {
    allreduce(std::span{std::as_const(data)}, std::span{data}, op, comm, options);
  } catch (const ArgumentError& refused) {
    return refused.what();
  }
  return "taken";
}

TEST(WideSumOptions, AreRefusedWhereTheyMeanNothing) {
  using testing::HasSubstr;
  const std::string allowed =
      "allowed: fp32, fp64 for elements of fp8_e4m3, fp8_e5m2, fp16, bf16; fp64 for elements of fp32";
  EXPECT_THAT(refusal<float>(Op::sum, {.accumulate = Type::fp32}),
              HasSubstr("tutti::allreduce on rank " + std::to_string(world_rank()) +
                        ": argument 'accumulate' is fp32 for elements of fp32; " + allowed));
  EXPECT_THAT(refusal<BFloat16>(Op::sum, {.accumulate = Type::fp16}),
              HasSubstr("fp16 for elements of bf16; " + allowed));
  EXPECT_THAT(refusal<int>(Op::sum, {.accumulate = Type::fp64}), HasSubstr("fp64 for elements of int32; " + allowed));
  EXPECT_THAT(refusal<double>(Op::avg, {.accumulate = Type::fp64}), HasSubstr("fp64 for elements of fp64; " + allowed));
  for (const Op& op : {Op::max, Op::prod, Op::exact_sum, Op::scaled_sum(2)})
    EXPECT_THAT(refusal<BFloat16>(op, {.accumulate = Type::fp32}),
                HasSubstr(fmt::format("argument 'accumulate' is fp32 with {}; allowed: accumulate with sum, avg",
                                      to_string(op.kind()))));
  EXPECT_THAT(refusal<BFloat16>(Op::sum, {.rounding = Rounding::stochastic}),
              HasSubstr("argument 'rounding' is Rounding::stochastic without 'accumulate'"));
  EXPECT_THAT(refusal<BFloat16>(Op::sum, {.accumulate = Type::fp32, .rounding = static_cast<Rounding>(9)}),
              HasSubstr("argument 'rounding' is 9"));
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<BFloat16> data(4);
  EXPECT_THROW(broadcast(std::span{data}, Rank{0}, comm, {.accumulate = Type::fp32}), ArgumentError);
  EXPECT_THROW(scan(std::span{data}, std::span{data}, Op::avg, comm, {.accumulate = Type::fp32}), ArgumentError);
  const std::string named = refusal<BFloat16>(Op::sum, {.algorithm = "ring", .accumulate = Type::fp32});
  EXPECT_THAT(named, HasSubstr(world_size() <= 2
                                   ? "argument 'algorithm' is 'ring' with accumulate, which adds in the order of ranks"
                                   : "argument 'algorithm' is 'ring' with accumulate, though partial "
                                     "results travel; allowed: one_shot, two_shot, exchange"));
}

/// Ranks that differ get an error that says in what: always through shared memory, and with TUTTI_CHECK=1. Else tags of
/// MPI have a part of the fingerprint, which may be the same by chance.
TEST(WideSumOptions, DifferencesBetweenRanksAreFound) {
  if (world_size() < 2) GTEST_SKIP() << "one rank";
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  if ((is_set("TUTTI_TRANSPORT") || is_set("TUTTI_NODES")) && !is_set("TUTTI_CHECK"))
    GTEST_SKIP() << "messages go over MPI, and TUTTI_CHECK is not set";
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<BFloat16> data(8);
  std::string error;
  try {
    allreduce(std::span{std::as_const(data)}, std::span{data}, Op::sum, comm,
              {.algorithm = "one_shot", .accumulate = world_rank() == 0 ? std::optional{Type::fp32} : std::nullopt});
  } catch (const Error& found) {
    error = found.what();
  }
  EXPECT_THAT(error, testing::HasSubstr("sum in fp32"));
}

}  // namespace
}  // namespace tutti::test
