#pragma once
// Sums that are exact until they are rounded, once, to the nearest number of the format, ties to even. Infinities, NaN
// and zeros are those that a single addition would give: +inf and -inf make NaN, and the result is -0 only if all
// operands are -0.
//
// Most sums are found by Knuth's additions without error: `sum + rest` is exact as long as no error is lost. Lanes in
// which one was are summed again, in integers (SumOfDigits). C++17, for hosts and devices; the namespace is unnamed for
// the reason given in convert.hpp.

#include <cstddef>
#include <cstdint>

#include "lib/core/reduce/lanes.hpp"

namespace tutti {
namespace {

/// A binary format: numbers of `digits` bits, the least of which is worth 2^least or more.
template <class Bits_, int digits_, int least_>
struct Format {
  using Bits = Bits_;
  static constexpr int digits = digits_, least = least_;
  static constexpr int exponent_bits = static_cast<int>(8 * sizeof(Bits)) - digits;
  static constexpr std::uint64_t infinity = ((std::uint64_t{1} << exponent_bits) - 1) << (digits - 1);
  static constexpr std::uint64_t nan = infinity | std::uint64_t{1} << (digits - 2);
  static constexpr std::uint64_t sign = std::uint64_t{1} << (8 * sizeof(Bits) - 1);
};
using Binary64 = Format<std::uint64_t, 53, -1074>;
using Binary32 = Format<std::uint32_t, 24, -149>;
using Binary16 = Format<std::uint16_t, 11, -24>;
using Brain16 = Format<std::uint16_t, 8, -133>;

/// A magnitude: bits * 2^exponent, of which the highest bit is set, and less than 2^exponent more if `is_more`.
struct Magnitude {
  std::uint64_t bits = 0;
  int exponent = 0;
  bool is_more = false;
};

/// The bits of the number of a format that is nearest to a magnitude, which is no less than the format's least number.
template <class F>
constexpr std::uint64_t nearest(const Magnitude& of) {
  const int room = of.exponent + 64 - F::digits;
  const int exponent = room > F::least ? room : F::least;
  const int dropped = exponent - of.exponent;  // 1 to 63
  const std::uint64_t kept = of.bits >> dropped, half = std::uint64_t{1} << 63, rest = of.bits << (64 - dropped);
  const bool is_up = rest > half || (rest == half && (of.is_more || (kept & 1) != 0));
  if (exponent - F::least > (1 << F::exponent_bits)) return F::infinity;
  // The first digit of a number that is not subnormal adds one to its exponent, and so does a carry.
  const std::uint64_t bits =
      (static_cast<std::uint64_t>(exponent - F::least) << (F::digits - 1)) + kept + (is_up ? 1 : 0);
  return bits < F::infinity ? bits : F::infinity;
}

/// A finite double: (negative ? -1 : 1) * bits * 2^exponent.
struct Finite {
  bool negative = false;
  std::uint64_t bits = 0;
  int exponent = 0;
};
constexpr Finite finite(std::uint64_t number) {
  const std::uint64_t first_digit = std::uint64_t{1} << 52, fraction = number & (first_digit - 1);
  const auto field = static_cast<int>(number >> 52 & 0x7ff);
  const bool negative = number >> 63 != 0;
  if (field == 0) return {negative, fraction, Binary64::least};
  return {negative, fraction | first_digit, field - 1 + Binary64::least};
}

/// The magnitude of a number whose digits of 32 bits are told from the lowest on.
class TopDigits {
 public:
  constexpr void add(std::uint32_t digit, int exponent) {
    if (digit != 0) {
      const int zeros = __builtin_clz(digit);
      const std::uint64_t upper = std::uint64_t{digit} << 32 | second_;
      top_ = {upper << zeros | (zeros == 0 ? 0 : std::uint64_t{third_} >> (32 - zeros)), exponent - 32 - zeros,
              lower_ || static_cast<std::uint32_t>(std::uint64_t{third_} << zeros) != 0};
    }
    lower_ = lower_ || third_ != 0;
    third_ = second_;
    second_ = digit;
  }
  /// No bits: the number is 0.
  [[nodiscard]] constexpr const Magnitude& magnitude() const { return top_; }

 private:
  std::uint32_t second_ = 0, third_ = 0;  ///< The digits below the next one.
  bool lower_ = false;                    ///< Whether any digit below these is not 0.
  Magnitude top_{};
};

/// Which operands of a sum are no finite numbers, and whether all are -0.
struct Specials {
  bool has_nan = false, has_plus = false, has_minus = false, is_all_minus_zero = true;
  [[nodiscard]] constexpr bool are_finite() const { return !has_nan && !has_plus && !has_minus; }
  /// The sum, whose magnitude, if it is finite, is that (no bits: 0).
  template <class F>
  [[nodiscard]] constexpr std::uint64_t rounded(const Magnitude& magnitude, bool negative) const {
    if (has_nan || (has_plus && has_minus)) return F::nan;
    if (has_plus || has_minus) return has_plus ? F::infinity : F::sign | F::infinity;
    if (magnitude.bits == 0) return is_all_minus_zero ? F::sign : 0;
    return nearest<F>(magnitude) | (negative ? F::sign : 0);
  }
};

/// The sum of doubles, digit by digit: operand(k) gives the bits of one, for k < count. Its cost grows with the
/// distance between the largest and the smallest of them.
template <class Operand>
class SumOfDigits {
 public:
  constexpr SumOfDigits(const Operand& operand, std::size_t count) : operand_(operand), count_(count) {
    for (std::size_t k = 0; k < count; ++k)
      survey(operand(k));
  }

  /// Rounded to a format of which all operands are.
  template <class F>
  [[nodiscard]] constexpr std::uint64_t rounded() const {
    Magnitude magnitude{};
    const bool negative = specials_.are_finite() && lowest_ <= highest_ && add_up(false, magnitude);
    if (negative) add_up(true, magnitude);
    return specials_.rounded<F>(magnitude, negative);
  }

 private:
  constexpr void survey(std::uint64_t number) {
    constexpr std::uint64_t infinity = Binary64::infinity, magnitude = ~Binary64::sign;
    specials_.has_nan = specials_.has_nan || (number & magnitude) > infinity;
    specials_.has_plus = specials_.has_plus || number == infinity;
    specials_.has_minus = specials_.has_minus || number == (infinity | Binary64::sign);
    specials_.is_all_minus_zero = specials_.is_all_minus_zero && number == Binary64::sign;
    const Finite its = finite(number);
    if (its.bits == 0) return;
    lowest_ = its.exponent < lowest_ ? its.exponent : lowest_;
    highest_ = its.exponent > highest_ ? its.exponent : highest_;
  }

  /// The part of a number in the 32 bits from 2^exponent on.
  static constexpr std::int64_t part(const Finite& number, int exponent, bool flip) {
    const int above = number.exponent - exponent;
    if (above >= 32 || above <= -53) return 0;
    const std::uint64_t shifted = above >= 0 ? number.bits << above : number.bits >> -above;
    const auto digit = static_cast<std::int64_t>(shifted & 0xffffffffU);
    return number.negative != flip ? -digit : digit;
  }

  /// The magnitude of the sum, or, flipped, of its opposite; whether that is negative, and the magnitude is none.
  constexpr bool add_up(bool flip, Magnitude& magnitude) const {
    TopDigits digits;
    std::int64_t carry = 0;
    const int end = highest_ + 53;
    for (int exponent = lowest_; exponent < end || (carry != 0 && carry != -1); exponent += 32) {
      for (std::size_t k = 0; k < count_; ++k)
        carry += part(finite(operand_(k)), exponent, flip);
      digits.add(static_cast<std::uint32_t>(carry & 0xffffffff), exponent);
      carry >>= 32;
    }
    magnitude = digits.magnitude();
    return carry < 0;
  }

  const Operand& operand_;
  std::size_t count_;
  Specials specials_{};
  int lowest_ = 1 << 20, highest_ = -(1 << 20);  ///< Exponents of numbers that are not 0.
};

/// a + b, rounded, and its error: Knuth's six operations.
template <class V>
constexpr V added(V a, V b, V& error) {
  const V sum = a + b, of_b = sum - a;
  error = (a - (sum - of_b)) + (b - of_b);
  return sum;
}

/// For each lane, all bits set where doubles are lost.
template <class V>
using Lost = Retyped<std::int64_t, V>;
template <class V>
constexpr Lost<V> where_lost(V error) {
  return error != 0 ? same<Lost<V>>(-1) : same<Lost<V>>(0);
}

/// A sum of doubles, lane by lane: exact where nothing was lost. For numbers of far fewer digits that seldom is.
template <class V>
class SumAlone {
 public:
  constexpr SumAlone() : SumAlone(V{}) {}
  constexpr explicit SumAlone(V first) : sum_(first), lost_{} {}
  [[gnu::always_inline]] constexpr void add(V x) {
    V error{};
    sum_ = added(sum_, x, error);
    lost_ |= where_lost(error);
  }
  [[nodiscard]] constexpr Lost<V> lost() const { return lost_; }
  [[nodiscard]] constexpr V rounded() const { return sum_; }
  [[nodiscard]] constexpr V rounded_to_odd() const { return sum_; }

 private:
  V sum_;
  Lost<V> lost_;
};

/// A sum of doubles, lane by lane: exactly `sum + rest`, where nothing was lost.
template <class V>
class SumWithRest {
 public:
  constexpr SumWithRest() : SumWithRest(V{}) {}
  constexpr explicit SumWithRest(V first) : sum_(first), rest_{}, lost_{} {}

  [[gnu::always_inline]] constexpr void add(V x) {
    V error{}, lost{};
    sum_ = added(sum_, x, error);
    rest_ = added(rest_, error, lost);
    lost_ |= where_lost(lost);
  }
  [[nodiscard]] constexpr Lost<V> lost() const { return lost_; }
  [[nodiscard]] constexpr V rounded() const { return rest_ == 0 ? sum_ : sum_ + rest_; }
  /// Rounded so that another rounding, to a format of fewer digits, gives what one rounding would: to a neighbour with
  /// an odd last digit, unless it is exact (Boldo & Melquiond, IEEE TC 57(4), 2008).
  [[nodiscard]] constexpr V rounded_to_odd() const {
    V error{};
    const V near = added(sum_, rest_, error);
    return rest_ == 0 ? sum_ : to_odd<std::int64_t>(near, error);
  }
  /// `near` is the nearest to a number that is `error` more.
  template <class Integer, class W>
  static constexpr W to_odd(W near, W error) {
    using Integers = Retyped<Integer, W>;
    const Integers up = error > 0 ? same<Integers>(1) : same<Integers>(-1);
    const Integers away = near > 0 ? up : -up;
    const auto bits = cast<Integers>(near);
    const Integers neighbour = (bits & 1) == 0 ? bits + away : bits;
    return cast<W>(error == 0 ? bits : neighbour);
  }

 private:
  V sum_, rest_;
  Lost<V> lost_;
};

/// The float that a double becomes before it is rounded to a format of 16 bits.
template <class V>
constexpr Retyped<float, V> float_to_odd(V value) {
  using Floats = Retyped<float, V>;
  const Floats near = convert<float>(value);
  const Floats error = convert<float>(value - convert<double>(near));  // of which only the sign counts
  return SumWithRest<V>::template to_odd<std::int32_t>(near, error);
}

}  // namespace
}  // namespace tutti
