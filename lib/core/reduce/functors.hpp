#pragma once
// The operations on a pair of elements, or of lanes of elements (lanes.hpp). Plain constexpr structs without the
// standard library's functions, so that host and device kernels are made from the same ones. fp8, fp16 and bf16 are
// computed in float: their kernels convert, and no functor sees them.
//
// `defined` says which types an operation is for; supports() is derived from it.
// Every functor commutes, bit for bit, but for which NaN results where both operands of sum or prod are NaN.
// The namespace is unnamed for the reason given in convert.hpp.

#include <cstdint>
#include <type_traits>

#include "lib/core/reduce/lanes.hpp"

namespace tutti {
namespace {

/// A complex number as it lies in memory, std::complex<Part> included.
template <class Part>
struct Complex {
  Part re, im;
};

template <class T>
constexpr bool is_complex_number = false;
template <class Part>
constexpr bool is_complex_number<Complex<Part>> = true;
template <class T>
constexpr bool is_integer_number = std::is_integral_v<Lane<T>>;
template <class T>
constexpr bool is_ordered = !is_complex_number<T>;

// Integers wrap around: computed in an unsigned type that is not promoted to int. Lanes never are.
template <class T>
using UnsignedLane = std::make_unsigned_t<Lane<T>>;
template <class T>
using Wrapping = std::conditional_t<lane_count<T> == 1, decltype(UnsignedLane<T>{} + 0u), UnsignedLane<T>>;

template <class T>
struct Sum {
  static constexpr bool defined = true;
  constexpr T operator()(T a, T b) const {
    if constexpr (is_integer_number<T>) {
      return convert<Lane<T>>(convert<Wrapping<T>>(a) + convert<Wrapping<T>>(b));
    } else if constexpr (is_complex_number<T>) {
      return {a.re + b.re, a.im + b.im};
    } else {
      return a + b;
    }
  }
};

/// The sum of two numbers, which is exact but for its one rounding. All NaNs are the same.
template <class T>
struct SumOfTwo {
  static constexpr bool defined = !is_integer_number<T>;
  constexpr T operator()(T a, T b) const {
    if constexpr (is_complex_number<T>) {
      using Part = decltype(a.re);
      return {SumOfTwo<Part>{}(a.re, b.re), SumOfTwo<Part>{}(a.im, b.im)};
    } else {
      const T sum = a + b;
      return sum == sum ? sum : same<T>(static_cast<Lane<T>>(__builtin_nanf("")));  // NOLINT(misc-redundant-expression)
    }
  }
};

/// Complex: the textbook's formula, four products each rounded once; no attempt to make sense of infinities.
template <class T>
struct Product {
  static constexpr bool defined = true;
  constexpr T operator()(T a, T b) const {
    if constexpr (is_integer_number<T>) {
      return convert<Lane<T>>(convert<Wrapping<T>>(a) * convert<Wrapping<T>>(b));
    } else if constexpr (is_complex_number<T>) {
      // Written as a sum: for a difference beside a sum, GCC 12 makes fused instructions even when told not to.
      return {a.re * b.re + -a.im * b.im, a.re * b.im + a.im * b.re};
    } else {
      return a * b;
    }
  }
};

template <class Float>
using BitsOf = Retyped<std::conditional_t<sizeof(Lane<Float>) == 4, std::uint32_t, std::uint64_t>, Float>;

// Below, `first` and `second` are the hardware's minimum (maximum) of the two operands in either order. They differ
// only where the operands are +0 and -0, or one is NaN. There, joining their bits gives -0 (max: +0) or a NaN, for both
// orders of the operands, and without a branch.

/// Floating point: NaN if either is NaN; -0 is less than +0.
template <class T>
struct Minimum {
  static constexpr bool defined = is_ordered<T>;
  constexpr T operator()(T a, T b) const {
    if constexpr (is_integer_number<T>) {
      return b < a ? b : a;
    } else {
      using Bits = BitsOf<T>;
      const Bits first = cast<Bits>(a < b ? a : b);
      const Bits second = cast<Bits>(b < a ? b : a);
      return cast<T>(first | second);
    }
  }
};

template <class T>
struct Maximum {
  static constexpr bool defined = is_ordered<T>;
  constexpr T operator()(T a, T b) const {
    if constexpr (is_integer_number<T>) {
      return a < b ? b : a;
    } else {
      using Bits = BitsOf<T>;
      const Bits first = cast<Bits>(a > b ? a : b);
      const Bits second = cast<Bits>(b > a ? b : a);
      const Bits magnitude = ~Bits{} >> 1;
      return cast<T>(((first | second) & magnitude) | (first & second));
    }
  }
};

// Logical operations give 0 or 1; where lanes compare as true, all their bits are set.

template <class T>
struct LogicalAnd {
  static constexpr bool defined = is_integer_number<T>;
  constexpr T operator()(T a, T b) const { return convert<Lane<T>>(((a != 0) & (b != 0)) & 1); }
};

template <class T>
struct LogicalOr {
  static constexpr bool defined = is_integer_number<T>;
  constexpr T operator()(T a, T b) const { return convert<Lane<T>>(((a != 0) | (b != 0)) & 1); }
};

template <class T>
struct LogicalXor {
  static constexpr bool defined = is_integer_number<T>;
  constexpr T operator()(T a, T b) const { return convert<Lane<T>>(((a != 0) ^ (b != 0)) & 1); }
};

template <class T>
struct BitAnd {
  static constexpr bool defined = is_integer_number<T>;
  constexpr T operator()(T a, T b) const { return convert<Lane<T>>(a & b); }
};

template <class T>
struct BitOr {
  static constexpr bool defined = is_integer_number<T>;
  constexpr T operator()(T a, T b) const { return convert<Lane<T>>(a | b); }
};

template <class T>
struct BitXor {
  static constexpr bool defined = is_integer_number<T>;
  constexpr T operator()(T a, T b) const { return convert<Lane<T>>(a ^ b); }
};

/// Finishes avg. Integers: towards zero, one at a time.
template <class T>
struct Divide {
  static constexpr bool defined = true;
  int divisor;
  constexpr T operator()(T value) const {
    if constexpr (is_integer_number<T>) {
      using Wide = std::conditional_t<(sizeof(T) < sizeof(int)), int, T>;  // int8 and 1,000 ranks
      return static_cast<T>(value / static_cast<Wide>(divisor));
    } else if constexpr (is_complex_number<T>) {
      using Part = Lane<decltype(value.re)>;
      return {value.re / static_cast<Part>(divisor), value.im / static_cast<Part>(divisor)};
    } else {
      return value / static_cast<Lane<T>>(divisor);
    }
  }
};

/// Finishes scaled_sum, which combines as sum.
template <class T>
struct Scale {
  static constexpr bool defined = !is_integer_number<T>;
  double factor;
  constexpr T operator()(T value) const {
    if constexpr (is_complex_number<T>) {
      using Part = Lane<decltype(value.re)>;
      return {value.re * static_cast<Part>(factor), value.im * static_cast<Part>(factor)};
    } else {
      return value * static_cast<Lane<T>>(factor);
    }
  }
};

}  // namespace
}  // namespace tutti
