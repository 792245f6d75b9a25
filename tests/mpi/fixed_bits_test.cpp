// Bits::fixed: the bits of a result follow from the inputs and the number of ranks alone. Each result is compared with
// the folded tree of ranks, computed here from all inputs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "lib/core/reduce/kernels.hpp"
#include "tests/mpi/allreduce_cases.hpp"

namespace tutti::test {
namespace {

/// Numbers of many magnitudes, so that every order of operands has other bits.
template <class T>
std::vector<T> numbers(int rank, std::int64_t count, unsigned seed) {
  std::mt19937 random{seed * 1000 + static_cast<unsigned>(rank)};
  std::uniform_real_distribution<double> digits{-1, 1};
  std::vector<T> data;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = std::ldexp(digits(random), static_cast<int>(random() % 9));
    data.push_back(element<T>(value, -value / 3));
  }
  return data;
}

using Row = std::vector<std::vector<std::byte>>;

template <class T>
Row all_inputs(std::int64_t count, unsigned seed, int ranks) {
  Row row;
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<T> data = numbers<T>(rank, count, seed);
    row.emplace_back(data.size() * sizeof(T));
    if (count > 0) std::memcpy(row.back().data(), data.data(), row.back().size());
  }
  return row;
}

/// Combines a place with the next one.
void combine(Row& row, std::size_t place, ReduceKernel kernel, std::int64_t count) {
  std::vector<std::byte> sum(row[place].size());
  kernel(row[place].data(), row[place + 1].data(), sum.data(), static_cast<std::size_t>(count));
  row[place] = std::move(sum);
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(place) + 1);
}

template <class T>
std::vector<T> in_elements(const std::vector<std::byte>& bytes) {
  std::vector<T> data(bytes.size() / sizeof(T));
  if (!data.empty()) std::memcpy(data.data(), bytes.data(), bytes.size());
  return data;
}

/// The first ranks pair up until a power of two is left, then all do.
template <class T>
std::vector<T> folded(std::int64_t count, unsigned seed) {
  Row row = all_inputs<T>(count, seed, world_size());
  const ReduceKernel kernel = reduce_kernel(Op::Kind::sum, type_of<T>);
  for (std::size_t place = 0; !std::has_single_bit(row.size()); ++place)
    combine(row, place, kernel, count);
  while (row.size() > 1)
    for (std::size_t place = 0; place < row.size(); ++place)
      combine(row, place, kernel, count);
  return in_elements<T>(row[0]);
}

/// Ranks 0 to `last`, one after the other.
template <class T>
std::vector<T> in_turn(std::int64_t count, unsigned seed, int last) {
  Row row = all_inputs<T>(count, seed, last + 1);
  while (row.size() > 1)
    combine(row, 0, reduce_kernel(Op::Kind::sum, type_of<T>), count);
  return in_elements<T>(row[0]);
}

template <class T>
bool same_bits(std::span<const T> a, std::span<const T> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

std::vector<std::string> fixed_choices(Collective collective) {
  std::vector<std::string> names{""};
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective && algorithm->bits == Bits::fixed) {
      names.emplace_back(algorithm->name);
      names.push_back(std::string{algorithm->name} + "/256");
    }
  return names;
}

constexpr std::array<std::int64_t, 7> counts{0, 1, 7, 64, 1000, 4099, 70'001};

/// One call of each kind, with the bits that `options` ask for.
template <class T>
void expect_fixed(std::int64_t count, const std::string& algorithm, Collective collective, const Communicator& comm,
                  std::optional<Bits> bits, unsigned seed) {
  const Options options{.algorithm = algorithm, .bits = bits};
  const int rank = world_rank(), size = world_size(), root = static_cast<int>(seed % static_cast<unsigned>(size));
  const auto share = static_cast<std::size_t>(count);
  const auto say = [&] {
    return fmt::format("{} {}, {} elements of {}", to_string(collective), algorithm, count, to_string(type_of<T>));
  };
  if (collective == Collective::reduce_scatter) {
    const std::vector<T> in = numbers<T>(rank, count * size, seed), want = folded<T>(count * size, seed);
    std::vector<T> out(share);
    reduce_scatter(std::span{in}, std::span{out}, Op::sum, comm, options);
    const std::span own = std::span{want}.subspan(share * static_cast<std::size_t>(rank), share);
    EXPECT_TRUE(same_bits<T>(out, own)) << say();
    return;
  }
  const std::vector<T> in = numbers<T>(rank, count, seed);
  std::vector<T> out(share), in_place = in;
  switch (collective) {
    case Collective::allreduce: {
      allreduce(std::span{in}, std::span{out}, Op::sum, comm, options);
      EXPECT_TRUE(same_bits<T>(out, folded<T>(count, seed))) << say();
      allreduce(std::span{in_place}, std::span{in_place}, Op::sum, comm, options);
      EXPECT_TRUE(same_bits<T>(in_place, out)) << say() << ", in place";
      std::ranges::fill(out, T{});
      allreduce_async(std::span{in}, std::span{out}, Op::sum, comm, options).wait();
      EXPECT_TRUE(same_bits<T>(out, in_place)) << say() << ", nonblocking";
      Plan plan = plan_allreduce(std::span{in}, std::span{out}, Op::sum, comm, options);
      EXPECT_NE(plan.explain().find("in fixed order"), std::string::npos) << plan.explain();
      std::ranges::fill(out, T{});
      plan.start();
      plan.wait();
      EXPECT_TRUE(same_bits<T>(out, in_place)) << say() << ", persistent";
      break;
    }
    case Collective::reduce:
      reduce(std::span{in}, std::span{out}, Op::sum, Rank{root}, comm, options);
      EXPECT_TRUE(rank != root || same_bits<T>(out, folded<T>(count, seed))) << say() << ", root " << root;
      break;
    case Collective::scan:
      scan(std::span{in}, std::span{out}, Op::sum, comm, options);
      EXPECT_TRUE(same_bits<T>(out, in_turn<T>(count, seed, rank))) << say();
      break;
    case Collective::exscan:
      exscan(std::span{in}, std::span{out}, Op::sum, comm, options);
      EXPECT_TRUE(rank == 0 || same_bits<T>(out, in_turn<T>(count, seed, rank - 1))) << say();
      break;
    default:
      FAIL() << "no reduction";
  }
}

class FixedBits : public testing::TestWithParam<Collective> {};
INSTANTIATE_TEST_SUITE_P(Every, FixedBits,
                         testing::Values(Collective::reduce, Collective::allreduce, Collective::reduce_scatter,
                                         Collective::scan, Collective::exscan),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

TEST_P(FixedBits, FollowFromTheNumberOfRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  using Inexact = Types<Float8E4M3, Half, BFloat16, float, double, std::complex<float>>;
  unsigned seed = 1;
  for (const std::string& algorithm : fixed_choices(GetParam()))
    for_each_type(Inexact{}, [&]<class T>() {
      for (const std::int64_t count : counts)
        if (count < 70'000 || std::is_same_v<T, float>)
          if (!algorithm.ends_with("/256") || count < 5000)
            expect_fixed<T>(count, algorithm, GetParam(), comm, Bits::fixed, ++seed);
    });
}

/// The communicator's bits, and TUTTI_BITS, count where a call says nothing.
TEST_P(FixedBits, OfACommunicatorOrTheEnvironment) {
  const Communicator fixed{MPI_COMM_WORLD, {.bits = Bits::fixed}};
  expect_fixed<float>(999, "", GetParam(), fixed, {}, 5);
  if (world_rank() == 0) setenv("TUTTI_BITS", "fixed", 1);
  const Communicator by_environment{MPI_COMM_WORLD};
  if (world_rank() == 0) unsetenv("TUTTI_BITS");
  expect_fixed<float>(998, "", GetParam(), by_environment, {}, 6);
}

/// Random sizes, many calls.
TEST(FixedBitsOfRandomCalls, AreThoseOfTheTree) {
  const Communicator comm{MPI_COMM_WORLD, {.bits = Bits::fixed}};
  std::mt19937 random{9};
  for (unsigned call = 0; call < 300; ++call) {
    const auto count = static_cast<std::int64_t>(std::ldexp(1, static_cast<int>(random() % 14))) + random() % 100;
    expect_fixed<float>(count, "", Collective::allreduce, comm, {}, call);
  }
}

TEST(FixedBitsOptions, AreRefusedOnAllRanks) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<float> data(8);
  const auto error_of = [&](const Options& options) -> std::string {
    try {
      allreduce(std::span{std::as_const(data)}, std::span{data}, Op::sum, comm, options);
    } catch (const ArgumentError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of({.algorithm = "ring", .bits = Bits::fixed}),
              testing::HasSubstr("argument 'algorithm' is 'ring', which keeps no fixed order (Bits::fixed); allowed: "
                                 "recursive_doubling, rabenseifner"));
  EXPECT_THAT(error_of({.bits = Bits::differ}), testing::HasSubstr("argument 'bits' is Bits::differ; allowed: "));
  EXPECT_THROW((Communicator{MPI_COMM_WORLD, {.bits = Bits::differ}}), ArgumentError);
  EXPECT_EQ(error_of({.algorithm = "ring", .bits = Bits::same}), "");
}

/// An algorithm that the user has chosen for all calls is passed over where it keeps no fixed order.
TEST(FixedBitsOptions, PassOverAlgorithmsOfTheEnvironment) {
  const Communicator comm{MPI_COMM_WORLD, {.algorithms = "allreduce=ring", .bits = Bits::fixed}};
  expect_fixed<float>(100, "", Collective::allreduce, comm, {}, 3);
}

}  // namespace
}  // namespace tutti::test
