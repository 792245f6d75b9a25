#pragma once
// The results that operations must give, worked out in wider types and without the library's code.

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::reference {

__extension__ using Wide = __int128;

/// A floating-point format of 16 or 8 bits.
struct Format {
  int bits;
  int fraction_bits;
  int min_exponent;
  double largest;
  bool has_infinity = true;  ///< If not, the largest exponent has values, and one NaN.
  bool saturates = false;

  [[nodiscard]] double decode(int value) const {
    const int exponent_bits = bits - 1 - fraction_bits, sign_bit = 1 << (bits - 1);
    const int exponent = (value & (sign_bit - 1)) >> fraction_bits;
    const int fraction = value & ((1 << fraction_bits) - 1);
    const double sign = (value & sign_bit) != 0 ? -1 : 1;
    const bool is_nan_without_infinity = fraction == (1 << fraction_bits) - 1;
    if (exponent == (1 << exponent_bits) - 1 && (has_infinity || is_nan_without_infinity)) {
      return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
    }
    const int significand = exponent == 0 ? fraction : fraction + (1 << fraction_bits);
    return sign * std::ldexp(significand, std::max(exponent - 1, 0) + min_exponent - fraction_bits);
  }

  /// The nearest value of the format, ties to even.
  [[nodiscard]] double round(double value) const {
    if (std::isinf(value) && !has_infinity) return std::copysign(largest, value);
    if (!std::isfinite(value) || value == 0) return value;
    const double unit = std::ldexp(1.0, std::max(std::ilogb(value), min_exponent) - fraction_bits);
    const double rounded = std::nearbyint(value / unit) * unit;
    const double beyond = saturates ? largest : std::numeric_limits<double>::infinity();
    return std::copysign(std::abs(rounded) <= largest ? rounded : beyond, value);
  }
};

template <class T>
inline constexpr Format format_of{};
template <>
inline constexpr Format format_of<Float8E4M3>{8, 3, -6, 448, false, true};
template <>
inline constexpr Format format_of<Float8E5M2>{8, 2, -14, 57344, true, true};
template <>
inline constexpr Format format_of<Half>{16, 10, -14, 65504};
template <>
inline constexpr Format format_of<BFloat16>{16, 7, -126, 0x1.fep127};

/// A type that is kept in fewer bits than it is computed in.
template <class T>
concept Narrow = format_of<T>
.bits != 0;

// How each real type is computed: widen, work, round.
template <Narrow T>
double widen(T value) {
  return format_of<T>.decode(value.bits());
}
template <std::floating_point T>
double widen(T value) {
  return value;
}
template <std::integral T>
Wide widen(T value) {
  return value;
}

/// The value as the type would hold it, still in the wide type.
template <class T, class W>
W rounded(W value) {
  if constexpr (Narrow<T>) {
    return format_of<T>.round(value);
  } else {
    return static_cast<W>(static_cast<T>(value));
  }
}

inline bool same(Wide a, Wide b) { return a == b; }
inline bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

template <class W>
W smaller(W a, W b) {
  if constexpr (std::same_as<W, double>) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? a : b;
  }
  return a < b ? a : b;
}

template <class W>
W larger(W a, W b) {
  if constexpr (std::same_as<W, double>) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    if (a == b) return std::signbit(a) ? b : a;
  }
  return a < b ? b : a;
}

/// a (+) b for real types, before it is rounded.
template <class W>
W combine(Op::Kind kind, W a, W b) {
  using Kind = Op::Kind;
  if (kind == Kind::sum || kind == Kind::avg || kind == Kind::exact_sum || kind == Kind::scaled_sum) return a + b;
  if (kind == Kind::min) return smaller(a, b);
  if (kind == Kind::max) return larger(a, b);
  if constexpr (std::same_as<W, Wide>) {
    if (kind == Kind::prod) {  // 64 by 64 bits may need 128, unsigned
      __extension__ using Unsigned = unsigned __int128;
      return static_cast<W>(static_cast<Unsigned>(a) * static_cast<Unsigned>(b));
    }
    if (kind == Kind::land) return a != 0 && b != 0;
    if (kind == Kind::lor) return a != 0 || b != 0;
    if (kind == Kind::lxor) return (a != 0) != (b != 0);
    if (kind == Kind::band) return a & b;
    if (kind == Kind::bor) return a | b;
    return a ^ b;
  } else {
    return a * b;
  }
}

/// Whether `got` is the result that the operation must give for a and b.
template <class T>
bool right(Op::Kind kind, T a, T b, T got) {
  return same(widen(got), rounded<T>(combine(kind, widen(a), widen(b))));
}

template <class Part>
bool right(Op::Kind kind, std::complex<Part> a, std::complex<Part> b, std::complex<Part> got) {
  if (kind != Op::Kind::prod)
    return right(kind, a.real(), b.real(), got.real()) && right(kind, a.imag(), b.imag(), got.imag());
  // Each product and each sum is rounded; volatile keeps the compiler from fusing them.
  volatile Part ac = a.real() * b.real(), bd = a.imag() * b.imag(), ad = a.real() * b.imag(), bc = a.imag() * b.real();
  return same(double{got.real()}, double{static_cast<Part>(ac - bd)}) &&
         same(double{got.imag()}, double{static_cast<Part>(ad + bc)});
}

/// Whether `got` is value / divisor.
template <class T>
bool right_quotient(T value, int divisor, T got) {
  const auto wide = widen(value);
  return same(widen(got), rounded<T>(wide / static_cast<decltype(wide)>(divisor)));
}

template <class Part>
bool right_quotient(std::complex<Part> value, int divisor, std::complex<Part> got) {
  return right_quotient(value.real(), divisor, got.real()) && right_quotient(value.imag(), divisor, got.imag());
}

/// Whether `got` is value * factor, computed in float for types up to 32 bits.
template <class T>
bool right_multiple(T value, double factor, T got) {
  if constexpr (std::same_as<T, double>) {
    return same(got, value * factor);
  } else {
    const double product = widen(value) * double{static_cast<float>(factor)};
    return same(widen(got), rounded<T>(double{static_cast<float>(product)}));
  }
}

template <class Part>
bool right_multiple(std::complex<Part> value, double factor, std::complex<Part> got) {
  return right_multiple(value.real(), factor, got.real()) && right_multiple(value.imag(), factor, got.imag());
}

}  // namespace tutti::reference
