#pragma once
// The 8-bit floating-point formats, converted in the manner of convert.hpp: without branches, one element or several
// lanes at a time, and without subnormal floats in between.
//
// Overflow saturates, and the infinity of a float stays one where the format has it. tutti/datatype.hpp says why.
// The namespace is unnamed for the reason given in convert.hpp.

#include <cstdint>

#include "lib/core/reduce/convert.hpp"
#include "lib/core/reduce/lanes.hpp"

namespace tutti {
namespace {

/// E4M3 of OFP8.
struct E4m3 {
  static constexpr int fraction_bits = 3, exponent_bias = 7;
  static constexpr float smallest_normal = 0x1p-6f, largest = 448;
  static constexpr std::int32_t first_special = 0x7f;  ///< From this magnitude on, the bits mean infinity or NaN.
  static constexpr std::uint32_t infinity = 0x7e;      ///< The bits of an infinite float.
};

/// E5M2 of OFP8.
struct E5m2 {
  static constexpr int fraction_bits = 2, exponent_bias = 15;
  static constexpr float smallest_normal = 0x1p-14f, largest = 57344;
  static constexpr std::int32_t first_special = 0x7c;
  static constexpr std::uint32_t infinity = 0x7c;
};

template <class Format>
constexpr int fp8_shift = 23 - Format::fraction_bits;
template <class Format>
constexpr std::uint32_t fp8_rebias = std::uint32_t{127 - Format::exponent_bias} << 23;

/// fp8 to float: exact; a NaN becomes quiet. The arguments' upper 24 bits are 0.
template <class Format, class Bits>
constexpr Retyped<float, Bits> fp8_to_float(Bits fp8) {
  using Float = Retyped<float, Bits>;
  const Bits sign = (fp8 & 0x80u) << 24;
  const auto magnitude = cast<Retyped<std::int32_t, Bits>>(fp8 & 0x7fu);
  // The largest exponent of float, with the fraction that there is: 0 is infinity.
  const Bits special = magnitude >= Format::first_special ? same<Bits>(0x7f800000) : same<Bits>(0);
  const Bits normal = ((cast<Bits>(magnitude) << fp8_shift<Format>)+fp8_rebias<Format>) | special;
  // Subnormals as in half_to_float.
  constexpr std::int32_t first_normal = 1 << Format::fraction_bits;
  const Bits next_exponent = magnitude < first_normal ? same<Bits>(1u << 23) : same<Bits>(0);
  const Bits too_much = magnitude < first_normal ? same<Bits>(bits_of(Format::smallest_normal)) : same<Bits>(0);
  return cast<Float>(cast<Bits>(cast<Float>(normal + next_exponent) - cast<Float>(too_much)) | sign);
}

/// float to fp8, to nearest, ties to even, and no further than the largest value; a NaN becomes 0x7f with its sign.
template <class Format, class Float>
constexpr Retyped<std::uint32_t, Float> float_to_fp8(Float value) {
  using Bits = Retyped<std::uint32_t, Float>;
  using Signed = Retyped<std::int32_t, Float>;
  const Bits sign = cast<Bits>(value) & float_sign;
  const Bits magnitude = cast<Bits>(value) ^ sign;
  const auto largest = same<Float>(Format::largest);
  const Bits finite = cast<Bits>(cast<Float>(magnitude) < largest ? cast<Float>(magnitude) : largest);
  // Normal and subnormal values as in float_to_half: `unit_at` is the float whose unit is that of the subnormals.
  constexpr int shift = fp8_shift<Format>;
  constexpr std::uint32_t below_half = (1u << (shift - 1)) - 1;
  const Bits normal = (finite - fp8_rebias<Format> + below_half + ((finite >> shift) & 1u)) >> shift;
  constexpr float unit_at = Format::smallest_normal * static_cast<float>(1 << shift);
  const Bits subnormal = cast<Bits>(cast<Float>(finite) + unit_at) - bits_of(unit_at);
  const auto first_normal = static_cast<std::int32_t>(bits_of(Format::smallest_normal));
  const Bits rounded = cast<Signed>(finite) < first_normal ? subnormal : normal;
  const Bits special = cast<Signed>(magnitude) > float_infinity ? same<Bits>(0x7f) : same<Bits>(Format::infinity);
  return (sign >> 24) | (cast<Signed>(magnitude) < float_infinity ? rounded : special);
}

}  // namespace
}  // namespace tutti
