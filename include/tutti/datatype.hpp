#pragma once
// Element types, and the floating-point types of 16 and 8 bits that C++20 lacks.

#include <bit>
#include <complex>
#include <concepts>
#include <cstdint>
#include <string_view>

#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// IEEE 754 binary16. Storage only: arithmetic is done in float and rounded once (to nearest, ties to even).
class Half {
 public:
  constexpr Half() = default;
  TUTTI_API explicit Half(float value);       ///< A NaN becomes quiet and keeps the upper bits of its payload.
  TUTTI_API explicit operator float() const;  ///< Exact.
  static constexpr Half from_bits(std::uint16_t bits) { return Half{bits, 0}; }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }

 private:
  constexpr Half(std::uint16_t bits, int /*raw*/) : bits_(bits) {}
  std::uint16_t bits_ = 0;
};

/// bfloat16: the upper half of a float. Storage only, like Half.
class BFloat16 {
 public:
  constexpr BFloat16() = default;
  TUTTI_API explicit BFloat16(float value);
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16); }
  static constexpr BFloat16 from_bits(std::uint16_t bits) { return BFloat16{bits, 0}; }
  [[nodiscard]] constexpr std::uint16_t bits() const { return bits_; }

 private:
  constexpr BFloat16(std::uint16_t bits, int /*raw*/) : bits_(bits) {}
  std::uint16_t bits_ = 0;
};

/// E4M3 of OFP8, the 8-bit formats of the Open Compute Project: a sign, 4 bits of exponent, 3 of fraction; ml_dtypes
/// and PyTorch call it float8_e4m3fn. The largest value is 448, the smallest above 0 is 2^-9; there is no infinity, and
/// 0x7f and 0xff are NaN. Storage only, like Half.
///
/// Rounding: to nearest, ties to even. Overflow saturates: a float, or a result, that is larger than the largest value
/// becomes the largest value with its sign, infinity too. So for every float that is no NaN the bits are those of
/// CUDA's conversion with __NV_SATFINITE. No finite operands of a sum or a product give a NaN.
class Float8E4M3 {
 public:
  constexpr Float8E4M3() = default;
  TUTTI_API explicit Float8E4M3(float value);  ///< To nearest, ties to even. A NaN becomes 0x7f, with its sign.
  TUTTI_API explicit operator float() const;   ///< Exact.
  static constexpr Float8E4M3 from_bits(std::uint8_t bits) { return Float8E4M3{bits, 0}; }
  [[nodiscard]] constexpr std::uint8_t bits() const { return bits_; }

 private:
  constexpr Float8E4M3(std::uint8_t bits, int /*raw*/) : bits_(bits) {}
  std::uint8_t bits_ = 0;
};

/// E5M2 of OFP8: a sign, 5 bits of exponent, 2 of fraction: the upper half of an fp16. The largest value is 57344, the
/// smallest above 0 is 2^-16; infinities and NaNs are those of IEEE 754. Storage only, like Half.
///
/// Rounding and overflow as in E4M3, so for every finite float the bits are those of CUDA's conversion with
/// __NV_SATFINITE. But infinity stays infinity, so that a reduction keeps the infinity of an operand; with CUDA's it
/// becomes the largest value.
class Float8E5M2 {
 public:
  constexpr Float8E5M2() = default;
  TUTTI_API explicit Float8E5M2(float value);  ///< To nearest, ties to even. A NaN becomes 0x7f, with its sign.
  TUTTI_API explicit operator float() const;   ///< Exact.
  static constexpr Float8E5M2 from_bits(std::uint8_t bits) { return Float8E5M2{bits, 0}; }
  [[nodiscard]] constexpr std::uint8_t bits() const { return bits_; }

 private:
  constexpr Float8E5M2(std::uint8_t bits, int /*raw*/) : bits_(bits) {}
  std::uint8_t bits_ = 0;
};

enum class Type : std::uint8_t {
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  fp8_e4m3,
  fp8_e5m2,
  fp16,
  bf16,
  fp32,
  fp64,
  complex_fp32,
  complex_fp64,
  boolean,  ///< "bool", a byte that is 0 or 1. Sum, max, lor and bor are the logical or; prod, min, land and band the
            ///< and.
};
inline constexpr int type_count = 17;

/// Whether a value is one of the types; one cast from a number may not be.
[[nodiscard]] constexpr bool is_type(Type type) { return type <= Type::boolean; }
/// "int32", "bf16", "complex_fp64", ... ArgumentError unless is_type(type).
[[nodiscard]] TUTTI_API std::string_view to_string(Type type);
/// Bytes of one element. ArgumentError unless is_type(type).
[[nodiscard]] TUTTI_API Bytes size_of(Type type);
[[nodiscard]] constexpr bool is_integer(Type type) { return type <= Type::uint64; }
[[nodiscard]] constexpr bool is_complex(Type type) { return type == Type::complex_fp32 || type == Type::complex_fp64; }

/// Whether arrays of T can be communicated. Integers are told by size and sign, so `long` and `long long` both fit.
template <class T>
inline constexpr bool is_element = std::integral<T> && sizeof(T) <= 8;
template <>
inline constexpr bool is_element<Float8E4M3> = true;
template <>
inline constexpr bool is_element<Float8E5M2> = true;
template <>
inline constexpr bool is_element<Half> = true;
template <>
inline constexpr bool is_element<BFloat16> = true;
template <>
inline constexpr bool is_element<float> = true;
template <>
inline constexpr bool is_element<double> = true;
template <>
inline constexpr bool is_element<std::complex<float>> = true;
template <>
inline constexpr bool is_element<std::complex<double>> = true;

/// A type whose arrays can be communicated.
template <class T>
concept Element = is_element<T>;

/// The Type of a C++ element type.
template <Element T>
inline constexpr Type type_of = static_cast<Type>(std::countr_zero(sizeof(T)) + (std::unsigned_integral<T> ? 4 : 0));
template <>
inline constexpr Type type_of<bool> = Type::boolean;
template <>
inline constexpr Type type_of<Float8E4M3> = Type::fp8_e4m3;
template <>
inline constexpr Type type_of<Float8E5M2> = Type::fp8_e5m2;
template <>
inline constexpr Type type_of<Half> = Type::fp16;
template <>
inline constexpr Type type_of<BFloat16> = Type::bf16;
template <>
inline constexpr Type type_of<float> = Type::fp32;
template <>
inline constexpr Type type_of<double> = Type::fp64;
template <>
inline constexpr Type type_of<std::complex<float>> = Type::complex_fp32;
template <>
inline constexpr Type type_of<std::complex<double>> = Type::complex_fp64;

}  // namespace tutti
