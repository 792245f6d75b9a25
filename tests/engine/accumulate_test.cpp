// Sums in a wider type: every kernel of every instruction set, against sums that are computed here one by one, and
// rounded once by the formats of reduce_reference.hpp.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "lib/core/reduce/low_precision_kernels.hpp"
#include "tests/engine/reduce_reference.hpp"

namespace tutti {
namespace {

template <class T>
T from(double value) {
  if constexpr (std::same_as<T, float>) {
    return static_cast<float>(value);
  } else {
    return T{static_cast<float>(value)};
  }
}
template <class T>
double value_of(T element) {
  return static_cast<double>(static_cast<float>(element));
}
template <class T>
auto bits_of_element(T element) {
  if constexpr (std::same_as<T, float>) {
    return std::bit_cast<std::uint32_t>(element);
  } else {
    return element.bits();
  }
}

/// The nearest of the type.
template <class T>
double nearest(double value) {
  if constexpr (std::same_as<T, float>) {
    return static_cast<float>(value);
  } else {
    return reference::format_of<T>.round(value);
  }
}

template <class T>
class Accumulate : public testing::Test {
 protected:
  /// Numbers of many magnitudes; of some ranks that cancel.
  static std::vector<std::vector<T>> operands(std::size_t ranks, std::size_t count, unsigned seed) {
    std::mt19937 random{seed};
    std::uniform_real_distribution<double> digits{-1, 1};
    std::vector<std::vector<T>> all(ranks, std::vector<T>(count));
    for (auto& each : all)
      for (T& element : each)
        element = from<T>(std::ldexp(digits(random), static_cast<int>(random() % 12) - 8));
    return all;
  }
  static std::vector<const void*> pointers(const std::vector<std::vector<T>>& all) {
    std::vector<const void*> found;
    for (const auto& each : all)
      found.push_back(each.data());
    return found;
  }
  static std::vector<Type> wider() {
    if (type_of<T> == Type::fp32) return {Type::fp64};
    return {Type::fp32, Type::fp64};
  }
  /// Computed as the interface says: from left to right in the wide type, divided there, rounded once.
  template <class Wide>
  static double sum_in(const std::vector<std::vector<T>>& all, std::size_t i, bool is_average) {
    Wide sum = static_cast<Wide>(value_of(all[0][i]));
    for (std::size_t k = 1; k < all.size(); ++k)
      sum += static_cast<Wide>(value_of(all[k][i]));
    if (is_average) sum /= static_cast<Wide>(all.size());
    return static_cast<double>(sum);
  }
  static double sum(const std::vector<std::vector<T>>& all, std::size_t i, const Op& op) {
    const bool is_average = op.kind() == Op::Kind::avg;
    return op.accumulate() == Type::fp64 ? sum_in<double>(all, i, is_average) : sum_in<float>(all, i, is_average);
  }
  static std::vector<Op> operations(Rounding rounding) {
    std::vector<Op> all;
    for (const Type wide : wider())
      for (const Op& op : {Op::sum, Op::avg})
        all.push_back(detail::accumulating(op, wide, rounding));
    return all;
  }
  static std::vector<T> result(const KernelTable& table, const Op& op, const std::vector<std::vector<T>>& all) {
    std::vector<T> into(all[0].size());
    const AccumulatingKernels* const kernels = table.low_precision->find(op, type_of<T>);
    if (kernels == nullptr) throw std::logic_error("no kernel");
    const auto data = pointers(all);
    kernels->many(data.data(), data.size(), into.data(), nullptr, into.size());
    return into;
  }
  static bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
  }
};

using Elements = testing::Types<Float8E4M3, Float8E5M2, Half, BFloat16, float>;
TYPED_TEST_SUITE(Accumulate, Elements);

TYPED_TEST(Accumulate, IsTheWideSumRoundedOnce) {
  using T = TypeParam;
  unsigned seed = 0;
  for (const KernelTable* table : runnable_kernel_tables())
    for (const Op& op : this->operations(Rounding::nearest))
      for (const std::size_t ranks : {1U, 2U, 3U, 4U, 7U, 64U})
        for (const std::size_t count : {0U, 1U, 3U, 31U, 32U, 33U, 100U, 1000U}) {
          const auto all = this->operands(ranks, count, ++seed);
          const std::vector<T> got = this->result(*table, op, all);
          for (std::size_t i = 0; i < count; ++i)
            ASSERT_EQ(value_of(got[i]), nearest<T>(this->sum(all, i, op)))
                << table->name << ' ' << to_string(op.kind()) << ' ' << to_string(*op.accumulate()) << ", " << ranks
                << " operands, element " << i << " of " << count;
        }
}

/// A sum that loses every operand but the first where it is rounded at each step.
TYPED_TEST(Accumulate, KeepsWhatStepsWouldLose) {
  using T = TypeParam;
  const std::vector<std::vector<T>> all(1025, {from<T>(std::same_as<T, float> ? 0x1p24 : 16)});
  std::vector<std::vector<T>> small(256, {from<T>(1)});
  small[0] = {from<T>(std::same_as<T, float> ? 0x1p24 : 128)};
  const Op op = detail::accumulating(Op::sum, this->wider()[0], Rounding::nearest);
  const double wanted = nearest<T>(value_of(small[0][0]) + 255);
  for (const KernelTable* table : runnable_kernel_tables())
    EXPECT_EQ(value_of(this->result(*table, op, small)[0]), wanted);
  EXPECT_GT(wanted, value_of(small[0][0]));
}

/// Infinite, NaN, too large, subnormal, of both zeros.
TYPED_TEST(Accumulate, TakesNumbersOfAllKinds) {
  using T = TypeParam;
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> kinds{infinity, -infinity, std::nan(""), 0.0,      -0.0,     1,
                                  -1,       448,       57344,        65504,    0x1p127,  -0x1p127,
                                  0x1p-9,   0x1p-16,   0x1p-24,      0x1p-133, 0x1p-149, 0x1.8p-140};
  std::vector<std::vector<T>> all(2);
  for (const double a : kinds)
    for (const double b : kinds) {
      all[0].push_back(from<T>(a));
      all[1].push_back(from<T>(b));
    }
  for (const Op& op : this->operations(Rounding::nearest)) {
    const std::vector<T> first = this->result(kernels_baseline, op, all);
    for (std::size_t i = 0; i < first.size(); ++i) {
      const double wanted = nearest<T>(this->sum(all, i, op)), got = value_of(first[i]);
      ASSERT_TRUE(got == wanted || (std::isnan(got) && std::isnan(wanted)))
          << value_of(all[0][i]) << " and " << value_of(all[1][i]) << ": " << got << ", not " << wanted;
      if (std::isnan(wanted)) {
        EXPECT_EQ(bits_of_element(first[i]), bits_of_element(from<T>(std::numeric_limits<float>::quiet_NaN())));
      }
    }
    for (const KernelTable* table : runnable_kernel_tables())
      EXPECT_TRUE(this->same_bits(this->result(*table, op, all), first)) << table->name;
  }
}

TYPED_TEST(Accumulate, HasTheSameBitsInAllWays) {
  using T = TypeParam;
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    for (const Op& op : this->operations(rounding)) {
      auto all = this->operands(2, 777, 5);
      const std::vector<T> wanted = this->result(kernels_baseline, op, all);
      for (const KernelTable* table : runnable_kernel_tables()) {
        const AccumulatingKernels& kernels = *table->low_precision->find(op, type_of<T>);
        EXPECT_TRUE(this->same_bits(this->result(*table, op, all), wanted)) << table->name;
        std::vector<T> two(777), into(777), also(777), in_place = all[1];
        kernels.two(all[0].data(), all[1].data(), two.data(), two.size());
        EXPECT_TRUE(this->same_bits(two, wanted)) << table->name;
        const auto data = this->pointers(all);
        kernels.many(data.data(), 2, into.data(), also.data(), into.size());
        EXPECT_TRUE(this->same_bits(into, wanted) && this->same_bits(also, wanted)) << table->name;
        kernels.two(all[0].data(), in_place.data(), in_place.data(), in_place.size());
        EXPECT_TRUE(this->same_bits(in_place, wanted)) << table->name;
        // An element has the same bits wherever it is.
        kernels.two(all[0].data() + 5, all[1].data() + 5, two.data(), 3);
        EXPECT_EQ(std::memcmp(two.data(), wanted.data() + 5, 3 * sizeof(T)), 0) << table->name;
      }
    }
}

/// Each result is a neighbour of the sum, and the mean error is 0: of n sums of which each errs by less than a unit, it
/// is less than 6 / (2 sqrt(n)) units but for a chance of one in 10^8. Sums of the same operands err alike, so there
/// are operands enough for n different sums. The second scale makes averages that are subnormal.
TYPED_TEST(Accumulate, RoundsStochasticallyWithoutBias) {
  using T = TypeParam;
  constexpr std::size_t n = 40'000, ranks = 9;
  constexpr reference::Format format =
      std::same_as<T, float> ? reference::Format{32, 23, -126, 0x1.fffffep127} : reference::format_of<T>;
  for (const double scale : {1.0, std::ldexp(1.0, format.min_exponent - 1)}) {
    std::mt19937 random{9};
    std::vector<std::vector<T>> all(ranks, std::vector<T>(n, from<T>(scale)));
    for (std::size_t k = 1; k < ranks; ++k)
      for (T& element : all[k])
        element = from<T>(scale * std::ldexp(static_cast<double>(random() >> 8), -24));
    for (const Op& op : this->operations(Rounding::stochastic)) {
      if (scale != 1.0 && op.kind() == Op::Kind::sum) continue;  // sums of multiples of the unit are exact
      const std::vector<T> got = this->result(kernels_baseline, op, all);
      double total = 0;
      std::size_t ups = 0, inexact = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double exact = this->sum(all, i, op), error = value_of(got[i]) - exact;
        const double below = std::abs(nearest<T>(exact) - exact);
        int exponent = 0;
        static_cast<void>(std::frexp(exact, &exponent));
        const double unit = std::ldexp(1.0, std::max(exponent - 1, format.min_exponent) - format.fraction_bits);
        ASSERT_LT(std::abs(error), unit) << exact;
        if (below != 0) {
          ++inexact;
          ups += error > 0 ? 1 : 0;
        } else {
          ASSERT_EQ(error, 0);
        }
        total += error / unit;
      }
      ASSERT_GT(inexact, n / 8) << "nothing was rounded";
      EXPECT_GT(ups, inexact / 8);
      EXPECT_LT(ups, inexact - inexact / 8);
      EXPECT_LT(std::abs(total / n), 3 / std::sqrt(static_cast<double>(n))) << to_string(*op.accumulate()) << scale;
    }
  }
}

TEST(Accumulates, IsForNarrowerTypes) {
  EXPECT_TRUE(accumulates(Type::bf16, Type::fp32));
  EXPECT_TRUE(accumulates(Type::fp8_e4m3, Type::fp64));
  EXPECT_TRUE(accumulates(Type::fp32, Type::fp64));
  EXPECT_FALSE(accumulates(Type::fp32, Type::fp32));
  EXPECT_FALSE(accumulates(Type::fp16, Type::bf16));
  EXPECT_FALSE(accumulates(Type::fp64, Type::fp64));
  EXPECT_FALSE(accumulates(Type::int8, Type::fp32));
  EXPECT_EQ(reduce_kernel(detail::accumulating(Op::max, Type::fp32, Rounding::nearest), Type::bf16), nullptr);
  EXPECT_EQ(to_string(Rounding::stochastic), "stochastic");
}

}  // namespace
}  // namespace tutti
