// fp8: every value, and every pair of values, against the nearest of the format's values, found by search in a table
// that is written here from the specification (OCP 8-bit Floating Point Specification, revision 1.0).

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "lib/core/reduce/kernels.hpp"
#include "tests/engine/reduce_reference.hpp"

namespace tutti {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The values of the bits 0, 1, 2, ..., as far as they are finite.
std::vector<double> magnitudes(int fraction_bits, int smallest_exponent, double largest) {
  const int steps = 1 << fraction_bits;
  std::vector<double> values;
  for (int k = 0; k < steps; ++k)
    values.push_back(std::ldexp(k, smallest_exponent - fraction_bits));
  for (int exponent = smallest_exponent;; ++exponent)
    for (int k = 0; k < steps; ++k) {
      values.push_back(std::ldexp(steps + k, exponent - fraction_bits));
      if (values.back() == largest) return values;
    }
}

template <class T>
const std::vector<double>& magnitudes_of() {
  static const std::vector<double> values =
      std::same_as<T, Float8E4M3> ? magnitudes(3, -6, 448) : magnitudes(2, -14, 57344);
  return values;
}

/// The bits that the specification gives to a value, in its mode that saturates; but infinity stays infinity. NaN:
/// 0x7f.
template <class T>
int encoded(double value) {
  if (std::isnan(value)) return 0x7f;
  const int sign = std::signbit(value) ? 0x80 : 0;
  if (std::isinf(value) && std::same_as<T, Float8E5M2>) return sign | 0x7c;
  const std::vector<double>& values = magnitudes_of<T>();
  int best = 0;
  for (int bits = 1; bits < static_cast<int>(values.size()); ++bits) {
    const auto distance = [&](int of) { return std::abs(std::abs(value) - values[static_cast<std::size_t>(of)]); };
    if (distance(bits) < distance(best) || (distance(bits) == distance(best) && bits % 2 == 0)) best = bits;
  }
  return sign | (std::isinf(value) ? static_cast<int>(values.size()) - 1 : best);
}

template <class T>
double decoded(int bits) {
  const auto magnitude = static_cast<std::size_t>(bits & 0x7f);
  const double sign = (bits & 0x80) != 0 ? -1 : 1;
  if (magnitude < magnitudes_of<T>().size()) return sign * magnitudes_of<T>()[magnitude];
  return std::same_as<T, Float8E5M2> && magnitude == 0x7c ? sign * infinity : std::nan("");
}

template <class T>
struct Fp8 : testing::Test {
  /// NaNs are the same, whatever their sign.
  static bool same(int a, int b) { return a == b || (std::isnan(decoded<T>(a)) && std::isnan(decoded<T>(b))); }
};
using Fp8Types = testing::Types<Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(Fp8, Fp8Types, );

TYPED_TEST(Fp8, HasTheValuesOfTheSpecification) {
  const bool e4m3 = std::same_as<TypeParam, Float8E4M3>;
  EXPECT_EQ(magnitudes_of<TypeParam>().size(), e4m3 ? 0x7fU : 0x7cU);
  for (int bits = 0; bits < 256; ++bits) {
    const auto value = static_cast<float>(TypeParam::from_bits(static_cast<std::uint8_t>(bits)));
    EXPECT_TRUE(reference::same(value, decoded<TypeParam>(bits))) << std::hex << bits;
  }
}

TYPED_TEST(Fp8, SaturatesButKeepsInfinity) {
  const bool e4m3 = std::same_as<TypeParam, Float8E4M3>;
  const float largest = e4m3 ? 448 : 57344;
  const int largest_bits = e4m3 ? 0x7e : 0x7b;
  for (const float beyond : {largest, 1.01f * largest, 1.125f * largest, 2 * largest, 1e38f}) {
    EXPECT_EQ(TypeParam{beyond}.bits(), largest_bits) << beyond;
    EXPECT_EQ(TypeParam{-beyond}.bits(), largest_bits | 0x80) << beyond;
  }
  EXPECT_EQ(TypeParam{INFINITY}.bits(), e4m3 ? 0x7e : 0x7c);
  EXPECT_EQ(TypeParam{-INFINITY}.bits(), e4m3 ? 0xfe : 0xfc);
}

double combined(Op::Kind kind, double a, double b) {
  if (kind == Op::Kind::sum) return a + b;
  if (kind == Op::Kind::prod) return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == b) return std::signbit(a) == (kind == Op::Kind::min) ? a : b;
  return kind == Op::Kind::min ? std::min(a, b) : std::max(a, b);
}

TYPED_TEST(Fp8, CombinesEveryPair) {
  std::vector<std::uint8_t> lhs(65536), rhs(65536), into(65536);
  for (std::size_t i = 0; i < lhs.size(); ++i) {
    lhs[i] = static_cast<std::uint8_t>(i);
    rhs[i] = static_cast<std::uint8_t>(i >> 8U);
  }
  for (const Op::Kind kind : {Op::Kind::sum, Op::Kind::prod, Op::Kind::min, Op::Kind::max}) {
    std::vector<int> wanted(lhs.size());
    for (std::size_t i = 0; i < lhs.size(); ++i)
      wanted[i] = encoded<TypeParam>(combined(kind, decoded<TypeParam>(lhs[i]), decoded<TypeParam>(rhs[i])));
    for (const KernelTable* table : runnable_kernel_tables()) {
      table->reduce[static_cast<int>(kind)][static_cast<int>(type_of<TypeParam>)](lhs.data(), rhs.data(), into.data(),
                                                                                  lhs.size());
      for (std::size_t i = 0; i < lhs.size(); ++i)
        ASSERT_TRUE(this->same(into[i], wanted[i]))
            << table->name << ", " << to_string(kind) << " of bits " << int{lhs[i]} << " and " << int{rhs[i]};
    }
  }
}

TYPED_TEST(Fp8, FinishesEveryValue) {
  std::array<std::uint8_t, 256> all{};
  std::iota(all.begin(), all.end(), std::uint8_t{0});
  for (const KernelTable* table : runnable_kernel_tables()) {
    for (const int divisor : {1, 2, 3, 5, 7, 100, 1000}) {
      auto data = all;
      table->divide[static_cast<int>(type_of<TypeParam>)](data.data(), data.size(), divisor);
      for (const std::uint8_t bits : all)
        ASSERT_TRUE(this->same(data[bits], encoded<TypeParam>(decoded<TypeParam>(bits) / divisor)))
            << table->name << ", bits " << int{bits} << " by " << divisor;
    }
    for (const float factor : {0.5f, -3.0f, 1 / 3.0f, 1e-6f, 1e6f, 0.0f}) {
      auto data = all;
      table->scale[static_cast<int>(type_of<TypeParam>)](data.data(), data.size(), factor);
      for (const std::uint8_t bits : all)
        ASSERT_TRUE(this->same(data[bits], encoded<TypeParam>(decoded<TypeParam>(bits) * double{factor})))
            << table->name << ", bits " << int{bits} << " times " << factor;
    }
  }
}

}  // namespace
}  // namespace tutti
