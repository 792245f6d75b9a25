#pragma once
// exp, log, tanh and numbers of 16 bits with the same bits on the host and on a device, which those of the libraries
// have not. They are made of additions, products, divisions and the bits of numbers; nothing branches, so that
// compilers use vectors. Errors are a few units in the last place.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "lib/core/reduce/convert.hpp"

namespace tutti::sgd {

namespace detail {

/// How numbers of type T are made up.
template <class T>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  using Signed = std::int32_t;
  static constexpr int fraction_bits = 23;
  static constexpr Bits bias = 127;
  static constexpr float rounder = 0x1.8p23F;  ///< Added, it rounds to an integer, which the lowest bits then hold.
  static constexpr float high_log_2 = 0x1.63p-1F, low_log_2 = -0x1.bd0106p-13F;  ///< The sum is log(2).
  static constexpr float least_exponent = -87, most_exponent = 88;               ///< Powers of e are normal numbers.
  static constexpr float most_tanh = 10;                                         ///< tanh rounds to 1 from here.
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  using Signed = std::int64_t;
  static constexpr int fraction_bits = 52;
  static constexpr Bits bias = 1023;
  static constexpr double rounder = 0x1.8p52;
  static constexpr double high_log_2 = 0x1.62e42feep-1, low_log_2 = 0x1.a39ef35793c76p-33;
  static constexpr double least_exponent = -708, most_exponent = 709;
  static constexpr double most_tanh = 20;
};

/// first + x * (second + x * ...)
template <class T>
constexpr T polynomial(T, T last) {
  return last;
}
template <class T, class... More>
constexpr T polynomial(T x, T first, More... more) {
  return first + x * polynomial(x, more...);
}

/// e^x = power * (1 + rest)
template <class T>
struct Power {
  T power, rest;
};

/// e to the power of x, from least_exponent to most_exponent. If x is no number, neither is the rest.
template <class T>
constexpr Power<T> power_of_e(T x) {
  using Number = Format<T>;
  const T rounded = x * T(1.4426950408889634) + Number::rounder;
  const T exponent = rounded - Number::rounder;
  const T power = std::bit_cast<T>(static_cast<typename Number::Bits>(
      (std::bit_cast<typename Number::Bits>(rounded) + Number::bias) << Number::fraction_bits));
  // At most log(2) / 2. The high part has few bits: its product is exact.
  const T r = (x - exponent * Number::high_log_2) - exponent * Number::low_log_2;
  if constexpr (sizeof(T) == sizeof(float)) {
    return {power, r + r * r * polynomial(r, T(1) / 2, T(1) / 6, T(1) / 24, T(1) / 120, T(1) / 720, T(1) / 5040)};
  } else {
    return {power,
            r + r * r *
                    polynomial(r, T(1) / 2, T(1) / 6, T(1) / 24, T(1) / 120, T(1) / 720, T(1) / 5040, T(1) / 40320,
                               T(1) / 362880, T(1) / 3628800, T(1) / 39916800, T(1) / 479001600, T(1) / 6227020800)};
  }
}

}  // namespace detail

/// 0 for powers below the normal numbers, infinity shortly before they end.
template <class T>
constexpr T exp(T x) {
  using Number = detail::Format<T>;
  const detail::Power<T> of_e = detail::power_of_e(x);
  const T result = of_e.power + of_e.power * of_e.rest;
  const T large = x > Number::most_exponent ? std::numeric_limits<T>::infinity() : result;
  return x < Number::least_exponent ? T(0) : large;
}

template <class T>
constexpr T tanh(T x) {
  const T magnitude = x < T(0) ? -x : x;
  const T bounded = magnitude > detail::Format<T>::most_tanh ? detail::Format<T>::most_tanh : magnitude;
  const detail::Power<T> of_e = detail::power_of_e(2 * bounded);
  const T less_1 = of_e.power * of_e.rest + (of_e.power - T(1));  // e^2x - 1, without loss for small x
  const T result = less_1 / (less_1 + T(2));
  return x < T(0) ? -result : result;
}

/// The natural logarithm of a positive normal number.
template <class T>
constexpr T log(T x) {
  using Number = detail::Format<T>;
  using Bits = typename Number::Bits;
  if (!(x < std::numeric_limits<T>::infinity())) return x;
  // x = 2^exponent * fraction, the latter from sqrt(1/2) to sqrt(2).
  const Bits bits = std::bit_cast<Bits>(x);
  const Bits above = bits - std::bit_cast<Bits>(T(0.70710678118654752));
  const auto exponent = static_cast<T>(static_cast<typename Number::Signed>(above) >> Number::fraction_bits);
  const T fraction =
      std::bit_cast<T>(static_cast<Bits>(bits - (above >> Number::fraction_bits << Number::fraction_bits)));
  // log((1 + s) / (1 - s)) = 2 * (s + s^3 / 3 + s^5 / 5 + ...)
  const T s = (fraction - T(1)) / (fraction + T(1)), z = s * s;
  const T more = z * detail::polynomial(z, T(1) / 3, T(1) / 5, T(1) / 7, T(1) / 9, T(1) / 11, T(1) / 13, T(1) / 15,
                                        T(1) / 17, T(1) / 19, T(1) / 21);
  return exponent * Number::high_log_2 + (2 * s + (2 * s * more + exponent * Number::low_log_2));
}

/// The square root, correctly rounded.
template <class T>
constexpr T root(T x) {
  return std::sqrt(x);
}

/// Two formats of 16 bits: bf16 has 8 bits of exponent and 7 of fraction, fp16 5 and 10.
enum class Format16 : std::uint8_t { bf16, fp16 };

/// Rounded to nearest, ties to even; what is too large becomes infinity.
constexpr std::uint16_t narrowed(Format16 format, float value) {
  return static_cast<std::uint16_t>(format == Format16::fp16 ? float_to_half(value) : float_to_bfloat(value));
}
constexpr float widened(Format16 format, std::uint16_t bits) {
  const std::uint32_t wide = bits;
  return format == Format16::fp16 ? half_to_float(wide) : bfloat_to_float(wide);
}

}  // namespace tutti::sgd
