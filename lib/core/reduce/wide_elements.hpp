#pragma once
// How elements become the numbers that are added in a wider type, and how the sum comes back, rounded once.
//
// C++17, for hosts and devices; the namespace is unnamed for the reason given in convert.hpp.

#include <cstdint>
#include <type_traits>

#include "lib/core/reduce/exact_elements.hpp"
#include "lib/core/reduce/stochastic.hpp"

namespace tutti {
namespace {

/// All NaNs are the same: conversions from double differ in what they make of them.
template <class Floats>
constexpr Floats with_one_nan(Floats values) {
  return values == values ? values : same<Floats>(__builtin_nanf(""));  // NOLINT(misc-redundant-expression)
}

/// Elements of 8 or 16 bits: Conversion is theirs to float and back.
template <class Bits_, class Conversion, class Coarse>
struct SmallElement {
  using InMemory = Bits_;
  template <class V>
  static constexpr Retyped<std::uint32_t, V> bits(V elements) {
    return convert<std::uint32_t>(elements);
  }
  template <class Wide, class V>
  static constexpr Retyped<Wide, V> widen(V elements) {
    return convert<Wide>(Conversion::widen(elements));
  }
  template <class Sums>
  static constexpr Retyped<InMemory, Sums> nearest(Sums sums) {
    return Conversion::narrow(to_float(sums));
  }
  template <class Sums, class Random>
  static constexpr Retyped<InMemory, Sums> stochastic(Sums sums, Random random) {
    return Conversion::narrow(tutti::stochastic<Coarse>(to_float(sums), random));
  }

 private:
  /// A double is rounded to odd, so that the next rounding gives what one rounding would.
  template <class Sums>
  static constexpr Retyped<float, Sums> to_float(Sums sums) {
    if constexpr (std::is_same_v<Lane<Sums>, double>) {
      const auto near = with_one_nan(convert<float>(sums));
      const auto odd = near != 0 ? float_to_odd(sums) : near;
      return near - near == 0 ? odd : near;  // else infinite, or NaN
    } else {
      return sums;
    }
  }
};

/// float, added in double.
struct FloatElement {
  using InMemory = float;
  template <class V>
  static constexpr Retyped<std::uint32_t, V> bits(V elements) {
    return cast<Retyped<std::uint32_t, V>>(elements);
  }
  template <class Wide, class V>
  static constexpr Retyped<Wide, V> widen(V elements) {
    return convert<Wide>(elements);
  }
  template <class Sums>
  static constexpr Retyped<float, Sums> nearest(Sums sums) {
    return with_one_nan(convert<float>(sums));
  }
  template <class Sums, class Random>
  static constexpr Retyped<float, Sums> stochastic(Sums sums, Random random) {
    return with_one_nan(convert<float>(stochastic_float(sums, random)));
  }
};

template <class Format>
using WideFp8 = SmallElement<std::uint8_t, Fp8Conversion<Format>, CoarseFp8<Format>>;
template <class Conversion>
using WideHalf = SmallElement<std::uint16_t, Conversion, CoarseHalf>;
using WideBfloat = SmallElement<std::uint16_t, BfloatConversion, CoarseBfloat>;

/// A sum of elements in the type Wide, lane by lane, and the random bits by which it is rounded.
template <class Element, class Wide, bool is_stochastic, std::size_t lanes>
class WideSum {
 public:
  using Elements = Lanes<typename Element::InMemory, lanes>;
  constexpr WideSum() = default;
  constexpr explicit WideSum(Elements first) : sum_(Element::template widen<Wide>(first)) { note(first); }
  [[gnu::always_inline]] constexpr void add(Elements next) {
    sum_ = sum_ + Element::template widen<Wide>(next);
    note(next);
  }
  [[gnu::always_inline]] constexpr void divide(int divisor) { sum_ = sum_ / static_cast<Wide>(divisor); }
  /// All NaNs are the same.
  [[gnu::always_inline]] [[nodiscard]] constexpr Elements rounded() const {
    const auto nan = same<Sums>(static_cast<Wide>(__builtin_nanf("")));
    const Sums sum = sum_ == sum_ ? sum_ : nan;  // NOLINT(misc-redundant-expression)
    if constexpr (is_stochastic) {
      return Element::stochastic(sum, random_of(hash_));
    } else {
      return Element::nearest(sum);
    }
  }

 private:
  using Sums = Lanes<Wide, lanes>;
  using Hash = Lanes<std::uint32_t, lanes>;
  constexpr void note(Elements operand) {
    if constexpr (is_stochastic) hash_ = hashed_with(hash_, Element::bits(operand));
  }
  Sums sum_{};
  Hash hash_ = first_hash<Hash>();
};

}  // namespace
}  // namespace tutti
