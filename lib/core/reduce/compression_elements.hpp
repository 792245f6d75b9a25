#pragma once
// The formats of compressed elements (docs/compression.md). Every result is a function of the element, and of the scale
// of its block, so that hosts and devices give the same bits.
//
// C++17, for hosts and devices; the namespace is unnamed for the reason given in convert.hpp.

#include <cstddef>
#include <cstdint>

#include "lib/core/reduce/wide_elements.hpp"

namespace tutti {
namespace {

template <std::size_t n>
struct LaneCount {};

/// What is left of a value: 0 where that is not finite, or what it became is not.
template <class Floats>
constexpr Floats rest_of(Floats value, Floats became) {
  const Floats rest = value - became;
  return rest - rest == 0 ? rest : same<Floats>(0);
}

template <class Floats>
constexpr Retyped<std::uint32_t, Floats> random_bits_of(Floats value) {
  using Bits = Retyped<std::uint32_t, Floats>;
  return random_of(hashed_with(first_hash<Bits>(), cast<Bits>(value)));
}

/// Finite numbers beyond the largest become the largest, with their sign. All NaNs are the same.
template <class Floats>
constexpr Floats limited(Floats value, float largest) {
  using Bits = Retyped<std::uint32_t, Floats>;
  using Signed = Retyped<std::int32_t, Floats>;
  const Bits sign = cast<Bits>(value) & float_sign, magnitude = cast<Bits>(value) ^ sign;
  const auto most = static_cast<std::int32_t>(bits_of(largest));
  const Bits finite = cast<Signed>(magnitude) > most ? same<Bits>(bits_of(largest)) : magnitude;
  const Bits within = (cast<Signed>(magnitude) < float_infinity ? finite : magnitude) | sign;
  return cast<Floats>(cast<Signed>(magnitude) > float_infinity ? same<Bits>(0x7fc00000u) : within);
}

/// bf16 and fp16: elements of 2 bytes.
template <class Conversion, class Coarse, std::uint32_t largest>
struct PackedHalf {
  using InMemory = std::uint16_t;
  static constexpr std::size_t bytes = 2;
  template <bool is_stochastic, class Floats>
  static constexpr Retyped<InMemory, Floats> packed(Floats value) {
    if constexpr (is_stochastic) {
      const Floats rounded = stochastic<Coarse>(limited(value, cast<float>(largest)), random_bits_of(value));
      return Conversion::narrow(limited_again(value, rounded));
    } else {
      return Conversion::narrow(limited(value, cast<float>(largest)));
    }
  }
  template <class V>
  static constexpr Retyped<float, V> unpacked(V packed) {
    return Conversion::widen(packed);
  }

 private:
  /// The largest itself is no candidate for more; infinite values stay.
  template <class Floats>
  static constexpr Floats limited_again(Floats value, Floats rounded) {
    return value - value == 0 ? limited(rounded, cast<float>(largest)) : rounded;
  }
};
using PackedBfloat = PackedHalf<BfloatConversion, CoarseBfloat, 0x7f7f0000>;
template <class Conversion>
using PackedFp16 = PackedHalf<Conversion, CoarseHalf, 0x477fe000>;

/// What elements of a block are multiplied by: `unit` when they are unpacked, `reciprocal` when they are packed. Not
/// `is_number`: a block with elements that are not finite, of which all become NaN.
struct BlockScale {
  float unit, reciprocal;
  bool is_number;
};
constexpr std::uint32_t smallest_scaled = (127 - 100) << 23;  ///< Blocks whose largest is less than 2^-100 become 0.
/// The scale of a block that needs none of its own. `largest`: the bits of its largest magnitude.
constexpr BlockScale plain_scale(std::uint32_t largest) {
  if (largest < smallest_scaled) return {0, 0, true};
  return {cast<float>(std::uint32_t{0x7fc00000}), 0, false};
}
/// 0 where an element of such a block is not finite.
template <class Floats>
constexpr Floats scaled_by(Floats value, float reciprocal) {
  const Floats scaled = value * reciprocal;
  return scaled == scaled ? scaled : same<Floats>(0);  // NOLINT(misc-redundant-expression)
}
constexpr bool is_scaled(std::uint32_t largest) { return largest >= smallest_scaled && largest < 0x7f800000u; }

/// int8: the largest element becomes 127 or -127.
struct PackedInt8 {
  using InMemory = std::int8_t;
  static constexpr BlockScale scale_of(std::uint32_t largest) {
    if (!is_scaled(largest)) return plain_scale(largest);
    return {cast<float>(largest) / 127, 127 / cast<float>(largest), true};
  }
  template <bool is_stochastic, class Floats>
  static constexpr Retyped<InMemory, Floats> packed(Floats value, float reciprocal) {
    using Integers = Retyped<std::int32_t, Floats>;
    const Floats scaled = scaled_by(value, reciprocal);
    if constexpr (is_stochastic) {
      const auto sign = cast<Integers>(scaled) >> 31;
      const Floats magnitude = cast<Floats>(cast<Integers>(scaled) & 0x7fffffff);
      const Integers whole = convert<std::int32_t>(stochastic_whole(magnitude, random_bits_of(value)));
      const Integers most = whole < 127 ? whole : same<Integers>(127);
      return convert<std::int8_t>((most ^ sign) - sign);
    } else {
      // The unit of floats from 2^23 on is 1.
      constexpr float shift = 0x1.8p23f;
      return convert<std::int8_t>(cast<Integers>(scaled + shift) - static_cast<std::int32_t>(bits_of(shift)));
    }
  }
  template <class V>
  static constexpr Retyped<float, V> unpacked(V packed) {
    return convert<float>(convert<std::int32_t>(packed));
  }
};

/// fp8: the scale is a power of two, by which the largest element is in the upper half of what the format has.
template <class Format, int largest_exponent>
struct PackedFp8 {
  using InMemory = std::uint8_t;
  static constexpr BlockScale scale_of(std::uint32_t largest) {
    if (!is_scaled(largest)) return plain_scale(largest);
    // The largest numbers of both formats are 1.75 times a power of two.
    const std::uint32_t above = (largest & 0x7fffffu) > 0x600000u ? 1 : 0;
    const std::uint32_t exponent = (largest >> 23) + above - largest_exponent;
    return {cast<float>(exponent << 23), cast<float>((254 - exponent) << 23), true};
  }
  template <bool is_stochastic, class Floats>
  static constexpr Retyped<InMemory, Floats> packed(Floats value, float reciprocal) {
    const Floats scaled = scaled_by(value, reciprocal);
    if constexpr (is_stochastic) {
      return Fp8Conversion<Format>::narrow(stochastic<CoarseFp8<Format>>(scaled, random_bits_of(value)));
    } else {
      return Fp8Conversion<Format>::narrow(scaled);
    }
  }
  template <class V>
  static constexpr Retyped<float, V> unpacked(V packed) {
    return Fp8Conversion<Format>::widen(packed);
  }
};
using PackedE4m3 = PackedFp8<E4m3, 8>;
using PackedE5m2 = PackedFp8<E5m2, 15>;

}  // namespace
}  // namespace tutti
