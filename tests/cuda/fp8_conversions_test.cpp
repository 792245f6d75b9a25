// The conversions of fp8 against CUDA's own (cuda_fp8.h), which this file runs on the host.
#include <cuda_fp8.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>

#include "tutti/datatype.hpp"

namespace tutti {
namespace {

template <class T>
constexpr __nv_fp8_interpretation_t format = std::same_as<T, Float8E4M3> ? __NV_E4M3 : __NV_E5M2;

template <class T>
struct Fp8Conversions : testing::Test {};
using Fp8Types = testing::Types<Float8E4M3, Float8E5M2>;
TYPED_TEST_SUITE(Fp8Conversions, Fp8Types, );

/// With a step of 1 this passes too, in half a minute.
TYPED_TEST(Fp8Conversions, RoundAndSaturateAsCuda) {
  constexpr std::uint64_t step = 251;
  for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32U; bits += step) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(TypeParam{value}.bits(), __nv_cvt_float_to_fp8(value, __NV_SATFINITE, format<TypeParam>)) << value;
  }
}

/// A float that is halfway between two values, and its neighbours.
TYPED_TEST(Fp8Conversions, RoundHalfwayAsCuda) {
  for (std::uint32_t upper = 0; upper < 0x7f80; ++upper)
    for (const std::uint32_t lower : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU})
      for (const std::uint32_t sign : {0U, 0x80000000U}) {
        const auto value = std::bit_cast<float>(sign | upper << 16U | lower);
        ASSERT_EQ(TypeParam{value}.bits(), __nv_cvt_float_to_fp8(value, __NV_SATFINITE, format<TypeParam>)) << value;
      }
}

TYPED_TEST(Fp8Conversions, DifferWhereDocumented) {
  // NaN: the sign. Infinity: in E5M2.
  EXPECT_EQ(__nv_cvt_float_to_fp8(-NAN, __NV_SATFINITE, format<TypeParam>), 0x7f);
  EXPECT_EQ(TypeParam{-NAN}.bits(), 0xff);
  const bool e4m3 = std::same_as<TypeParam, Float8E4M3>;
  EXPECT_EQ(__nv_cvt_float_to_fp8(INFINITY, __NV_SATFINITE, format<TypeParam>), e4m3 ? 0x7e : 0x7b);
  EXPECT_EQ(TypeParam{INFINITY}.bits(), e4m3 ? 0x7e : 0x7c);
}

TYPED_TEST(Fp8Conversions, WidenAsCuda) {
  for (int bits = 0; bits < 256; ++bits) {
    const auto byte = static_cast<std::uint8_t>(bits);
    const auto value = static_cast<float>(TypeParam::from_bits(byte));
    const float wanted = __half2float(__half(__nv_cvt_fp8_to_halfraw(byte, format<TypeParam>)));
    EXPECT_TRUE(value == wanted || (std::isnan(value) && std::isnan(wanted))) << bits;
  }
}

}  // namespace
}  // namespace tutti
