// The values of tutti-soak's calls and the results that it expects.
#include <gmock/gmock.h>

#include <algorithm>
#include <complex>
#include <cstring>

#include "apps/soak/layout.hpp"
#include "tests/engine/reduce_reference.hpp"

namespace tutti::soak {
namespace {

using bench::period;
using bench::Source;
using bench::user_op;
using bench::with_type;
using bench::write_input;
using bench::write_result;
using testing::ElementsAre;

using ByteVector = std::vector<std::byte>;

template <class T>
std::vector<T> elements(const ByteVector& data) {
  std::vector<T> all(data.size() / sizeof(T));
  if (!data.empty()) std::memcpy(all.data(), data.data(), data.size());
  return all;
}

Call call_of(Collective collective, Type type, Op op, int size) {
  return {.collective = collective, .size = size, .type = type, .op = op, .count = 50, .key = mixed({1, 2, 3})};
}

ByteVector input(const Call& call, int rank, std::int64_t first, std::int64_t count) {
  ByteVector data(static_cast<std::size_t>(count * size_of(call.type).value()));
  write_input(operands_of(call, 0), rank, first, data);
  return data;
}

TEST(Values, APartIsThatOfTheWhole) {
  for (const Op& op : {Op::sum, Op::max, user_op(Commutative::no, Type::complex_fp32)}) {
    const Call call = call_of(Collective::allreduce, Type::complex_fp32, op, 5);
    constexpr std::size_t element = 8;
    const ByteVector whole = input(call, 3, 0, 3 * period);
    for (const std::int64_t first :
         {std::int64_t{0}, std::int64_t{1}, period - 1, period, period + 7, 2 * period - 3}) {
      const auto from = whole.begin() + static_cast<std::ptrdiff_t>(first) * static_cast<std::ptrdiff_t>(element);
      EXPECT_EQ(input(call, 3, first, 900), ByteVector(from, from + static_cast<std::ptrdiff_t>(900 * element)));
    }
  }
}

TEST(Values, DifferByRankCallAndRepetition) {
  Call call = call_of(Collective::broadcast, Type::uint64, Op::sum, 4);
  const ByteVector mine = input(call, 1, 0, 100);
  EXPECT_NE(mine, input(call, 2, 0, 100));
  ByteVector later(mine.size());
  write_input(operands_of(call, 1), 1, 0, later);
  EXPECT_NE(mine, later);
  call.key = 77;
  EXPECT_NE(mine, input(call, 1, 0, 100));
}

// ---- Expected results, against those worked out with rounding in wider types, in either order of the ranks: equal
// ones show that no sum or product is rounded.

template <class T>
T folded(const Call& call, const std::vector<T>& operands) {
  auto all = reference::widen(operands.front());
  for (std::size_t i = 1; i < operands.size(); ++i)
    all = reference::rounded<T>(reference::combine(call.op.kind(), all, reference::widen(operands[i])));
  if constexpr (std::integral<T>)
    return static_cast<T>(call.op.kind() == Op::Kind::avg ? all / call.size : all);
  else
    return static_cast<T>(call.op.kind() == Op::Kind::avg ? reference::rounded<T>(all / call.size) : all);
}

template <class T>
void expect_exact(const Call& call) {
  const Source source{0, call.size, 3};
  ByteVector result(50 * sizeof(T));
  write_result(operands_of(call, 0), source, result);
  std::vector<std::vector<T>> inputs;
  inputs.reserve(static_cast<std::size_t>(call.size));
  for (int rank = 0; rank < call.size; ++rank)
    inputs.push_back(elements<T>(input(call, rank, source.first, 50)));
  for (std::size_t i = 0; i < 50; ++i) {
    std::vector<T> operands(inputs.size());
    std::ranges::transform(inputs, operands.begin(), [i](const std::vector<T>& of_rank) { return of_rank[i]; });
    const auto got = reference::widen(elements<T>(result)[i]);
    ASSERT_TRUE(reference::same(got, reference::widen(folded(call, operands)))) << to_text(call);
    std::ranges::reverse(operands);
    ASSERT_TRUE(reference::same(got, reference::widen(folded(call, operands)))) << to_text(call);
  }
}

TEST(Reference, IsExactForEveryRealTypeAndOperation) {
  for (int type = 0; type < drawn_types; ++type) {
    if (is_complex(static_cast<Type>(type))) continue;
    for (const Op& op :
         {Op::sum, Op::prod, Op::min, Op::max, Op::avg, Op::land, Op::lor, Op::lxor, Op::band, Op::bor, Op::bxor}) {
      if (!supports(op.kind(), static_cast<Type>(type))) continue;
      for (const int size : {1, 2, 3, 8, 9, 17, 100, 1000})
        with_type(static_cast<Type>(type), [&]<class T>() {
          if constexpr (!is_complex(type_of<T>)) expect_exact<T>(call_of(Collective::allreduce, type_of<T>, op, size));
        });
    }
  }
}

TEST(Reference, ComplexSumsAndProductsHoldWholeNumbers) {
  for (const Op& op : {Op::sum, Op::prod}) {
    for (const int size : {2, 7, 17, 600}) {
      const Call single = call_of(Collective::allreduce, Type::complex_fp32, op, size);
      ByteVector result(50 * sizeof(std::complex<float>));
      write_result(operands_of(single, 0), {0, size, 0}, result);
      std::vector<std::complex<double>> expected(50, op == Op::sum ? 0 : 1);
      for (int rank = size; rank-- > 0;) {
        const auto data = elements<std::complex<float>>(input(single, rank, 0, 50));
        for (std::size_t i = 0; i < 50; ++i)
          expected[i] =
              op == Op::sum ? expected[i] + std::complex<double>{data[i]} : expected[i] * std::complex<double>{data[i]};
      }
      const auto got = elements<std::complex<float>>(result);
      for (std::size_t i = 0; i < 50; ++i)
        ASSERT_EQ(std::complex<double>{got[i]}, expected[i]) << to_text(single);
    }
  }
}

TEST(Reference, PutsBlocksWhereTheyBelong) {
  Call call = call_of(Collective::alltoall, Type::int32, Op::sum, 3);
  call.is_uneven = true;
  call.counts = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<Source> sources = sources_of(call, 1);
  std::vector<int> ranks;
  std::vector<std::int64_t> firsts;
  for (const Source& source : sources) {
    ranks.push_back(source.first_rank);
    firsts.push_back(source.first);
  }
  EXPECT_THAT(ranks, ElementsAre(0, 1, 2));
  EXPECT_THAT(firsts, ElementsAre(1, 4, 7));

  call.collective = Collective::exscan;
  call.is_uneven = false;
  EXPECT_TRUE(sources_of(call, 0).empty());
  EXPECT_EQ(sources_of(call, 2).at(0).ranks, 2);

  call.collective = Collective::reduce_scatter;
  call.is_uneven = true;
  call.counts = {4, 5, 6};
  EXPECT_EQ(sources_of(call, 2).at(0).first, 9);
  EXPECT_EQ(sources_of(call, 2).at(0).ranks, 3);
}

TEST(Reference, LongResultsRepeatThePeriod) {
  const Call call = call_of(Collective::allreduce, Type::int16, Op::sum, 3);
  ByteVector result(static_cast<std::size_t>(5 * period + 3) * 2), first(static_cast<std::size_t>(period) * 2);
  write_result(operands_of(call, 0), {0, 3, 11}, result);
  write_result(operands_of(call, 0), {0, 3, 11}, first);
  const auto all = elements<std::int16_t>(result), once = elements<std::int16_t>(first);
  for (std::size_t i = 0; i < all.size(); ++i)
    ASSERT_EQ(all[i], once[i % once.size()]);
}

}  // namespace
}  // namespace tutti::soak
