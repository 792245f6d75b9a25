#pragma once
// The 16-bit floating-point formats, converted without branches, so that the compiler vectorises loops of them, and
// without subnormal floats in between, so that a program that flushes those to zero gets the same.
//
// The namespace is unnamed so that every file compiled for another instruction set keeps its own copy: were they
// shared, the linker might keep the one that an older processor cannot run.

#include <cstdint>

namespace tutti {
namespace {

constexpr std::uint32_t bits_of(float value) { return __builtin_bit_cast(std::uint32_t, value); }
constexpr float float_of(std::uint32_t bits) { return __builtin_bit_cast(float, bits); }

// Magnitudes are compared as signed numbers, which older vector instructions can do.
constexpr std::uint32_t float_sign = 0x80000000;
constexpr std::int32_t float_infinity = 0x7f800000;
constexpr std::uint32_t rebias = (127 - 15) << 23;  ///< From binary16's exponent to float's.

/// binary16 to float: exact; a NaN becomes quiet and keeps its payload.
constexpr float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000) << 16;
  const std::int32_t magnitude = half & 0x7fff;
  // Rebiased twice, the largest exponent of binary16 (infinity, NaN) is that of float.
  const std::uint32_t special = magnitude >= 0x7c00 ? rebias : 0;
  const std::uint32_t normal = (static_cast<std::uint32_t>(magnitude) << 13) + rebias + special;
  // A subnormal is k * 2^-24: read with the exponent of the smallest normal it is 2^-14 too much. Others lose nothing.
  const std::uint32_t next_exponent = magnitude < 0x0400 ? 1u << 23 : 0;
  const std::uint32_t too_much = magnitude < 0x0400 ? bits_of(0x1p-14f) : 0;
  return float_of(bits_of(float_of(normal + next_exponent) - float_of(too_much)) | sign);
}

/// float to binary16, to nearest, ties to even; a NaN becomes quiet and keeps the upper bits of its payload.
constexpr std::uint16_t float_to_half(float value) {
  const std::uint32_t sign = bits_of(value) & float_sign;
  const std::uint32_t magnitude = bits_of(value) ^ sign;
  // From 2^16 on everything is infinite, which the next exponent happens to mean. NaN compares as false.
  const std::uint32_t finite = bits_of(float_of(magnitude) < 0x1p16f ? float_of(magnitude) : 0x1p16f);
  // Half a unit in the last place, less one where the last bit kept is even: the carry rounds, up to infinity too.
  const std::uint32_t normal = (finite - rebias + 0xfff + ((finite >> 13) & 1)) >> 13;
  // Adding 0.5 makes the float unit round at 2^-24, the unit of binary16's subnormals.
  const std::uint32_t subnormal = bits_of(float_of(finite) + 0.5f) - bits_of(0.5f);
  const std::uint32_t rounded = static_cast<std::int32_t>(finite) < (113 << 23) ? subnormal : normal;
  const std::uint32_t payload = 0x0200 | ((magnitude >> 13) & 0x03ff);
  const std::uint32_t nan = static_cast<std::int32_t>(magnitude) > float_infinity ? payload : 0;
  return static_cast<std::uint16_t>((sign >> 16) | rounded | nan);
}

/// bfloat16 to float: exact.
constexpr float bfloat_to_float(std::uint16_t bfloat) { return float_of(static_cast<std::uint32_t>(bfloat) << 16); }

/// float to bfloat16, to nearest, ties to even; a NaN becomes quiet and keeps the upper bits of its payload.
constexpr std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const std::uint32_t nan = bits | 0x00400000;
  return static_cast<std::uint16_t>((value != value ? nan : rounded) >> 16);
}

}  // namespace
}  // namespace tutti
