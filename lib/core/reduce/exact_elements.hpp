#pragma once
// How the elements of each type become the doubles of an exact sum, and come back.
//
// The namespace is unnamed for the reason given in convert.hpp.

#include <cstddef>
#include <cstdint>

#include "lib/core/reduce/elements.hpp"
#include "lib/core/reduce/exact_sum.hpp"

namespace tutti {
namespace {

struct ExactDouble {
  using Form = Binary64;
  using InMemory = double;
  template <class V>
  static constexpr V widen(V values) {
    return values;
  }
  template <class Sum>
  static constexpr auto narrow(const Sum& sum) {
    return sum.rounded();
  }
};

struct ExactFloat {
  using Form = Binary32;
  using InMemory = float;
  template <class V>
  static constexpr Retyped<double, V> widen(V values) {
    return convert<double>(values);
  }
  template <class Sum>
  static constexpr auto narrow(const Sum& sum) {
    return convert<float>(sum.rounded_to_odd());
  }
};

/// Elements of 16 bits, which are floats on the way.
template <class Format16, class Conversion>
struct ExactNarrow {
  using Form = Format16;
  using InMemory = std::uint16_t;
  template <class V>
  static constexpr Retyped<double, V> widen(V values) {
    return convert<double>(Conversion::widen(values));
  }
  template <class Sum>
  static constexpr auto narrow(const Sum& sum) {
    return Conversion::narrow(float_to_odd(sum.rounded_to_odd()));
  }
};

struct BfloatConversion {
  template <class V>
  static constexpr Retyped<float, V> widen(V values) {
    return bfloat_to_float(convert<std::uint32_t>(values));
  }
  template <class Floats>
  static constexpr Retyped<std::uint16_t, Floats> narrow(Floats values) {
    return convert<std::uint16_t>(float_to_bfloat(values));
  }
};

/// The exact sums of the elements of a kernel; complex numbers are two of them.
template <class Element>
struct MakeExact {
  static constexpr bool defined = false;
};
template <class Exact, std::size_t parts = 1>
struct ExactParts {
  static constexpr bool defined = true;
  using Type = Exact;
  static constexpr std::size_t count = parts;
};
template <>
struct MakeExact<Plain<double>> : ExactParts<ExactDouble> {};
template <>
struct MakeExact<Plain<float>> : ExactParts<ExactFloat> {};
template <>
struct MakeExact<Plain<Complex<double>>> : ExactParts<ExactDouble, 2> {};
template <>
struct MakeExact<Plain<Complex<float>>> : ExactParts<ExactFloat, 2> {};
template <class Conversion>
struct MakeExact<Narrow<Conversion, std::uint16_t>> : ExactParts<ExactNarrow<Binary16, Conversion>> {};
template <>
struct MakeExact<Bfloat> : ExactParts<ExactNarrow<Brain16, BfloatConversion>> {};

}  // namespace
}  // namespace tutti
