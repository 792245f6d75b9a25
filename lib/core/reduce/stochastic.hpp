#pragma once
// Stochastic rounding: a number becomes one of its two neighbours in a format, the upper one with the probability that
// its distance from the lower one gives. The random bits come from the caller: a hash of bits of the operands, so that
// they are the same on all ranks, on hosts and devices, and in every run.
//
// C++17, for hosts and devices; the namespace is unnamed for the reason given in convert.hpp.

#include <cstdint>

#include "lib/core/reduce/convert.hpp"
#include "lib/core/reduce/convert_fp8.hpp"
#include "lib/core/reduce/lanes.hpp"

namespace tutti {
namespace {

// The hash of MurmurHash3, in lanes of 32 bits (Appleby; public domain). It depends on the order of the operands, which
// is that of the ranks: a sum of hashes would be the same for many more sums, which would all err alike.

template <class Bits>
constexpr Bits first_hash() {
  return same<Bits>(0x9747b28cu);
}
template <class Bits>
constexpr Bits hashed_with(Bits hash, Bits operand) {
  operand = operand * 0xcc9e2d51u;
  operand = ((operand << 15) | (operand >> 17)) * 0x1b873593u;
  hash = hash ^ operand;
  return ((hash << 13) | (hash >> 19)) * 5u + 0xe6546b64u;
}
template <class Bits>
constexpr Bits random_of(Bits hash) {
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

/// Of random bits, a float in [0, 1).
template <class Bits>
constexpr Retyped<float, Bits> fraction_of(Bits random) {
  return convert<float>(cast<Retyped<std::int32_t, Bits>>(random >> 8)) * 0x1p-24f;
}

/// One of the two whole numbers around a number that is not negative and less than 2^23.
template <class Floats, class Bits>
constexpr Floats stochastic_whole(Floats value, Bits random) {
  const auto lower = convert<float>(convert<std::int32_t>(value));
  const Floats one = fraction_of(random) < value - lower ? same<Floats>(1) : same<Floats>(0);
  return lower + one;
}

/// A format of fewer digits than float: those that its normal numbers drop, and where they begin.
template <int shift_, std::uint32_t smallest_normal_>
struct Coarse {
  static constexpr int shift = shift_;
  static constexpr std::uint32_t smallest_normal = smallest_normal_;  ///< The bits of the float.
  static constexpr bool has_exponents_of_float = smallest_normal == 0x00800000u;
};
using CoarseBfloat = Coarse<16, 0x00800000>;
using CoarseHalf = Coarse<13, 0x38800000>;
template <class Format>
using CoarseFp8 = Coarse<fp8_shift<Format>, (std::uint32_t{128 - Format::exponent_bias} << 23)>;

/// A float that the format has, or that is too large for it. Infinities stay; a NaN may become another one.
template <class Format, class Floats, class Bits>
constexpr Floats stochastic(Floats value, Bits random) {
  using Signed = Retyped<std::int32_t, Floats>;
  constexpr std::uint32_t dropped = (1u << Format::shift) - 1;
  const Bits sign = cast<Bits>(value) & float_sign;
  const Bits magnitude = cast<Bits>(value) ^ sign;
  Bits rounded = (magnitude + (random & dropped)) & ~dropped;
  if constexpr (!Format::has_exponents_of_float) {
    // Subnormal numbers are multiples of one unit.
    constexpr std::uint32_t unit = Format::smallest_normal - (std::uint32_t{23 - Format::shift} << 23);
    constexpr std::uint32_t reciprocal = (std::uint32_t{254} << 23) - unit;
    const auto is_less = cast<Signed>(magnitude) < static_cast<std::int32_t>(Format::smallest_normal);
    const Floats small = cast<Floats>(is_less ? magnitude : same<Bits>(0)) * cast<float>(reciprocal);
    const Floats whole = stochastic_whole(small, random) * cast<float>(unit);
    rounded = is_less ? cast<Bits>(whole) : rounded;
  }
  return cast<Floats>((cast<Signed>(magnitude) < float_infinity ? rounded : magnitude) | sign);
}

/// A double that float has, or that is too large for it.
template <class Doubles, class Bits>
constexpr Doubles stochastic_float(Doubles value, Bits random) {
  using Longs = Retyped<std::uint64_t, Doubles>;
  using Signed = Retyped<std::int64_t, Doubles>;
  constexpr std::uint64_t dropped = (std::uint64_t{1} << 29) - 1, infinity = std::uint64_t{0x7ff} << 52;
  const Longs bits = cast<Longs>(value), sign = bits & (std::uint64_t{1} << 63), magnitude = bits ^ sign;
  const Longs normal = (magnitude + (convert<std::uint64_t>(random) & dropped)) & ~dropped;
  // Below the normal floats all are multiples of one unit.
  constexpr double smallest_normal = 0x1p-126, unit = 0x1p-149;
  const auto is_less = cast<Doubles>(magnitude) < smallest_normal;
  const Doubles small = (is_less ? cast<Doubles>(magnitude) : same<Doubles>(0)) * (1 / unit);
  const auto lower = convert<double>(convert<std::int32_t>(small));
  const auto limit = convert<double>(cast<Retyped<std::int32_t, Bits>>(random >> 8)) * 0x1p-24;
  const Doubles whole = (lower + (limit < small - lower ? same<Doubles>(1) : same<Doubles>(0))) * unit;
  const Longs rounded = is_less ? cast<Longs>(whole) : normal;
  return cast<Doubles>((cast<Signed>(magnitude) < static_cast<std::int64_t>(infinity) ? rounded : magnitude) | sign);
}

}  // namespace
}  // namespace tutti
