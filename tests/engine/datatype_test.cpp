// Element types, and the conversions of the narrow floating-point types against arithmetic in double.

#include "tutti/datatype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

#include "tests/engine/reduce_reference.hpp"

namespace tutti {
namespace {

static_assert(type_of<signed char> == Type::int8 && type_of<short> == Type::int16 && type_of<int> == Type::int32);
static_assert(type_of<long long> == Type::int64 && type_of<unsigned long long> == Type::uint64);
static_assert(type_of<std::uint8_t> == Type::uint8 && type_of<std::uint32_t> == Type::uint32);
static_assert(type_of<std::complex<float>> == Type::complex_fp32 && type_of<Half> == Type::fp16);
static_assert(type_of<Float8E4M3> == Type::fp8_e4m3 && type_of<Float8E5M2> == Type::fp8_e5m2);
static_assert(!is_integer(Type::fp8_e4m3) && !is_complex(Type::fp8_e5m2));
static_assert(Element<BFloat16> && Element<Float8E4M3> && Element<bool> && !Element<void*> && !Element<long double>);
static_assert(!Element<reference::Wide>);

template <class T>
void expect_size() {
  EXPECT_EQ(size_of(type_of<T>), Bytes{sizeof(T)}) << to_string(type_of<T>);
}

TEST(Datatype, SizesAreThoseOfTheLanguage) {
  expect_size<std::int8_t>(), expect_size<std::int16_t>(), expect_size<std::int32_t>(), expect_size<std::int64_t>();
  expect_size<std::uint8_t>(), expect_size<std::uint16_t>(), expect_size<std::uint32_t>(), expect_size<std::uint64_t>();
  expect_size<Float8E4M3>(), expect_size<Float8E5M2>();
  expect_size<Half>(), expect_size<BFloat16>(), expect_size<float>(), expect_size<double>();
  expect_size<std::complex<float>>(), expect_size<std::complex<double>>();
}

TEST(Datatype, Names) {
  EXPECT_EQ(to_string(Type::int8), "int8");
  EXPECT_EQ(to_string(Type::uint64), "uint64");
  EXPECT_EQ(to_string(Type::fp8_e4m3), "fp8_e4m3");
  EXPECT_EQ(to_string(Type::fp8_e5m2), "fp8_e5m2");
  EXPECT_EQ(to_string(Type::bf16), "bf16");
  EXPECT_EQ(to_string(Type::complex_fp64), "complex_fp64");
}

using reference::format_of;

template <class T>
T with_bits(int bits) {
  return T::from_bits(static_cast<decltype(T{}.bits())>(bits));
}
template <class T>
constexpr int sign_bit = 1 << (format_of<T>.bits - 1);
/// The bits of the largest value.
template <class T>
constexpr int largest_bits = sign_bit<T> - (1 << format_of<T>.fraction_bits) - 1;
template <>
constexpr int largest_bits<Float8E4M3> = 0x7e;

/// The bits that a NaN has surely: fp8 keeps no payload.
template <class T>
constexpr int nan_bits = sizeof(T) == 1 ? 0x7f : 1 << (format_of<T>.fraction_bits - 1);

template <class T>
struct Narrow : testing::Test {};
using NarrowTypes = testing::Types<Float8E4M3, Float8E5M2, Half, BFloat16>;
TYPED_TEST_SUITE(Narrow, NarrowTypes, );

TYPED_TEST(Narrow, EveryBitPatternMakesTheRoundTrip) {
  for (int bits = 0; bits < 2 * sign_bit<TypeParam>; ++bits) {
    const auto value = with_bits<TypeParam>(bits);
    const double exact = format_of<TypeParam>.decode(bits);
    ASSERT_TRUE(reference::same(static_cast<float>(value), exact)) << std::hex << bits;
    const int quiet = std::isnan(exact) ? nan_bits<TypeParam> : 0;
    ASSERT_EQ(TypeParam{static_cast<float>(value)}.bits(), bits | quiet) << std::hex << bits;
  }
}

TYPED_TEST(Narrow, HalfwayGoesToEvenAndItsNeighboursToTheNearest) {
  const reference::Format format = format_of<TypeParam>;
  const int end = largest_bits<TypeParam> + (format.saturates ? 0 : 1);
  for (int below = 0; below < end; ++below) {
    for (const int sign : {0, sign_bit<TypeParam>}) {
      const auto lower = format.decode(below | sign);
      // Infinity stands where the next finite value would be.
      const double upper = below < largest_bits<TypeParam>
                               ? format.decode((below + 1) | sign)
                               : std::ldexp(std::copysign(1.0, lower), std::ilogb(lower) + 1);
      const float halfway = static_cast<float>(lower / 2 + upper / 2);
      ASSERT_EQ(double{halfway}, lower / 2 + upper / 2);
      const int even = below % 2 == 0 ? below : below + 1;
      ASSERT_EQ(TypeParam{halfway}.bits(), even | sign) << std::hex << below;
      ASSERT_EQ(TypeParam{std::nextafter(halfway, 0.0f)}.bits(), below | sign) << std::hex << below;
      const float beyond = std::nextafter(halfway, std::copysign(std::numeric_limits<float>::infinity(), halfway));
      ASSERT_EQ(TypeParam{beyond}.bits(), (below + 1) | sign) << std::hex << below;
    }
  }
}

TYPED_TEST(Narrow, AnyFloatIsRoundedOnce) {
  std::mt19937 random{1};
  for (int i = 0; i < 1'000'000; ++i) {
    auto bits = static_cast<std::uint32_t>(random());
    // Every other one between 2^-32 and 2^32, where the ranges of fp8 and fp16 lie.
    if (i % 2 == 0) bits = (bits & 0x807fffff) | ((95 + random() % 64) << 23);
    const auto value = std::bit_cast<float>(bits);
    ASSERT_TRUE(reference::same(reference::widen(TypeParam{value}), format_of<TypeParam>.round(value))) << value;
  }
}

TYPED_TEST(Narrow, NaNsStayNaN) {
  for (std::uint32_t payload = 1; payload < 0x00800000; payload = payload * 2 + 1) {
    for (const std::uint32_t sign : {0u, 0x80000000u}) {
      const float nan = std::bit_cast<float>(sign | 0x7f800000u | payload);
      ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam{nan}))) << std::hex << payload;
    }
  }
  ASSERT_TRUE(std::isnan(static_cast<float>(TypeParam{std::bit_cast<float>(0x7f800001u)})));
}

}  // namespace
}  // namespace tutti
