#pragma once
// The 16-bit floating-point formats, converted without branches, one element or several lanes at a time, and without
// subnormal floats in between, so that a program that flushes those to zero gets the same.
//
// The namespace is unnamed so that every file compiled for another instruction set keeps its own copy: were they
// shared, the linker might keep the one that an older processor cannot run.

#include <cstdint>

#include "lib/core/reduce/lanes.hpp"

namespace tutti {
namespace {

// Magnitudes are compared as signed numbers, which older vector instructions can do.
constexpr std::uint32_t float_sign = 0x80000000;
constexpr std::int32_t float_infinity = 0x7f800000;
constexpr std::uint32_t rebias = (127 - 15) << 23;  ///< From binary16's exponent to float's.

/// binary16 to float: exact; a NaN becomes quiet and keeps its payload. The arguments' upper halves are 0.
template <class Bits>
constexpr Retyped<float, Bits> half_to_float(Bits half) {
  using Float = Retyped<float, Bits>;
  const Bits sign = (half & 0x8000u) << 16;
  const auto magnitude = cast<Retyped<std::int32_t, Bits>>(half & 0x7fffu);
  // Rebiased twice, the largest exponent of binary16 (infinity, NaN) is that of float.
  const Bits special = magnitude >= 0x7c00 ? same<Bits>(rebias) : same<Bits>(0);
  const Bits normal = (cast<Bits>(magnitude) << 13) + rebias + special;
  // A subnormal is k * 2^-24: read with the exponent of the smallest normal it is 2^-14 too much. Others lose nothing.
  const Bits next_exponent = magnitude < 0x0400 ? same<Bits>(1u << 23) : same<Bits>(0);
  const Bits too_much = magnitude < 0x0400 ? same<Bits>(bits_of(0x1p-14f)) : same<Bits>(0);
  return cast<Float>(cast<Bits>(cast<Float>(normal + next_exponent) - cast<Float>(too_much)) | sign);
}

/// float to binary16, to nearest, ties to even; a NaN becomes quiet and keeps the upper bits of its payload.
template <class Float>
constexpr Retyped<std::uint32_t, Float> float_to_half(Float value) {
  using Bits = Retyped<std::uint32_t, Float>;
  using Signed = Retyped<std::int32_t, Float>;
  const Bits sign = cast<Bits>(value) & float_sign;
  const Bits magnitude = cast<Bits>(value) ^ sign;
  // From 2^16 on everything is infinite, which the next exponent happens to mean. NaN compares as false.
  const auto largest = same<Float>(0x1p16f);
  const Bits finite = cast<Bits>(cast<Float>(magnitude) < largest ? cast<Float>(magnitude) : largest);
  // Half a unit in the last place, less one where the last bit kept is even: the carry rounds, up to infinity too.
  const Bits normal = (finite - rebias + 0xfffu + ((finite >> 13) & 1u)) >> 13;
  // Adding 0.5 makes the float unit round at 2^-24, the unit of binary16's subnormals.
  const Bits subnormal = cast<Bits>(cast<Float>(finite) + 0.5f) - bits_of(0.5f);
  const Bits rounded = cast<Signed>(finite) < (113 << 23) ? subnormal : normal;
  const Bits payload = ((magnitude >> 13) & 0x03ffu) | 0x0200u;
  const Bits nan = cast<Signed>(magnitude) > float_infinity ? payload : same<Bits>(0);
  return (sign >> 16) | rounded | nan;
}

/// bfloat16 to float: exact. The upper half of the argument does not matter.
template <class Bits>
constexpr Retyped<float, Bits> bfloat_to_float(Bits bfloat) {
  return cast<Retyped<float, Bits>>(bfloat << 16);
}

/// float to bfloat16, to nearest, ties to even; a NaN becomes quiet and keeps the upper bits of its payload.
template <class Float>
constexpr Retyped<std::uint32_t, Float> float_to_bfloat(Float value) {
  using Bits = Retyped<std::uint32_t, Float>;
  const Bits bits = cast<Bits>(value);
  const Bits rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  const Bits nan = bits | 0x00400000u;
  return (value != value ? nan : rounded) >> 16;  // NOLINT(misc-redundant-expression): a NaN differs from itself
}

}  // namespace
}  // namespace tutti
