#pragma once
// How the elements of each type lie in memory, and how they are computed, `lanes` of them at a time.
//
// They are read and written by memcpy, which compiles to the plain access: buffers come as void*, of any type of the
// right size (std::complex, tutti::Half), and need not even be aligned.
// The namespace is unnamed for the reason given in convert.hpp.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "lib/core/reduce/convert.hpp"
#include "lib/core/reduce/convert_fp8.hpp"
#include "lib/core/reduce/functors.hpp"

namespace tutti {
namespace {

template <class V>
V load(const std::byte* from) {
  V value{};
  __builtin_memcpy(&value, from, sizeof(V));
  return value;
}

template <class V>
void store(std::byte* to, const V& value) {
  __builtin_memcpy(to, &value, sizeof(V));
}

/// Elements that registers hold in the same form as memory.
struct AsInMemory {
  template <class V>
  static V read(const std::byte* from) {
    return load<V>(from);
  }
  template <class V>
  static void write(std::byte* to, const V& value) {
    store(to, value);
  }
};

/// Types that are computed as they are.
template <class T>
struct Plain : AsInMemory {
  using Computed = T;
  using Widest = T;  ///< The type that has to fit in a lane.
  static constexpr std::size_t bytes = sizeof(T);
  template <std::size_t lanes>
  using Value = Lanes<T, lanes>;

  template <template <class> class Operation, class V>
  static constexpr V combine(V a, V b) {
    return Operation<V>{}(a, b);
  }
  template <template <class> class Operation, class V, class Argument>
  static constexpr V transform(V value, Argument argument) {
    return Operation<V>{argument}(value);
  }
};

/// Complex numbers: real and imaginary parts apart.
template <class Part>
struct Plain<Complex<Part>> {
  using Computed = Complex<Part>;
  using Widest = Part;
  static constexpr std::size_t bytes = 2 * sizeof(Part);
  template <std::size_t lanes>
  using Value = Complex<Lanes<Part, lanes>>;

  template <class V>
  static V read(const std::byte* from) {
    using Parts = decltype(V::re);
    if constexpr (lane_count<Parts> == 1) {
      return load<V>(from);
    } else {
      return unzip(load<Parts>(from), load<Parts>(from + sizeof(Parts)), std::make_index_sequence<lane_count<Parts>>{});
    }
  }
  template <class V>
  static void write(std::byte* to, const V& value) {
    using Parts = decltype(V::re);
    if constexpr (lane_count<Parts> == 1) {
      store(to, value);
    } else {
      zip(to, value, std::make_index_sequence<lane_count<Parts>>{});
    }
  }
  template <template <class> class Operation, class V>
  static constexpr V combine(V a, V b) {
    return Operation<V>{}(a, b);
  }
  template <template <class> class Operation, class V, class Argument>
  static constexpr V transform(V value, Argument argument) {
    return Operation<V>{argument}(value);
  }

 private:
  template <class Parts, std::size_t... i>
  static Complex<Parts> unzip(Parts lower, Parts upper, std::index_sequence<i...>) {
    return {__builtin_shufflevector(lower, upper, (2 * i)...), __builtin_shufflevector(lower, upper, (2 * i + 1)...)};
  }
  template <class Parts, std::size_t... i>
  static void zip(std::byte* to, Complex<Parts> value, std::index_sequence<i...>) {
    constexpr std::size_t lanes = sizeof...(i);
    store(to, __builtin_shufflevector(value.re, value.im, (i / 2 + i % 2 * lanes)...));
    store(to + sizeof(Parts), __builtin_shufflevector(value.re, value.im, ((i + lanes) / 2 + i % 2 * lanes)...));
  }
};

/// Floating point of 16 or 8 bits: kept as it is, computed in float, and rounded after every step.
template <class Conversion, class Bits = std::uint16_t>
struct Narrow : AsInMemory {
  using Computed = float;
  using Widest = float;
  static constexpr std::size_t bytes = sizeof(Bits);
  template <std::size_t lanes>
  using Value = Lanes<Bits, lanes>;

  template <template <class> class Operation, class V>
  static constexpr V combine(V a, V b) {
    return Conversion::narrow(Operation<Retyped<float, V>>{}(Conversion::widen(a), Conversion::widen(b)));
  }
  template <template <class> class Operation, class V, class Argument>
  static constexpr V transform(V value, Argument argument) {
    return Conversion::narrow(Operation<Retyped<float, V>>{argument}(Conversion::widen(value)));
  }
};

/// fp16 by integer arithmetic.
struct PortableHalf {
  template <class V>
  static constexpr Retyped<float, V> widen(V halves) {
    return half_to_float(convert<std::uint32_t>(halves));
  }
  template <class Floats>
  static constexpr Retyped<std::uint16_t, Floats> narrow(Floats values) {
    return convert<std::uint16_t>(float_to_half(values));
  }
};

/// fp8: Format is E4m3 or E5m2.
template <class Format>
struct Fp8Conversion {
  template <class V>
  static constexpr Retyped<float, V> widen(V values) {
    return fp8_to_float<Format>(convert<std::uint32_t>(values));
  }
  template <class Floats>
  static constexpr Retyped<std::uint8_t, Floats> narrow(Floats values) {
    return convert<std::uint8_t>(float_to_fp8<Format>(values));
  }
};
template <class Format>
using Fp8 = Narrow<Fp8Conversion<Format>, std::uint8_t>;

/// bf16 is the upper half of a float: a lane of 32 bits has two of them, which a shift and a mask tell apart.
struct Bfloat : AsInMemory {
  using Computed = float;
  using Widest = float;
  static constexpr std::size_t bytes = 2;
  template <std::size_t lanes>
  using Value = Lanes<std::conditional_t<lanes == 1, std::uint16_t, std::uint32_t>, lanes>;

  template <template <class> class Operation, class V>
  static constexpr V combine(V a, V b) {
    using Floats = Retyped<float, V>;
    if constexpr (lane_count<V> == 1) {
      const float result = Operation<float>{}(bfloat_to_float(std::uint32_t{a}), bfloat_to_float(std::uint32_t{b}));
      return static_cast<V>(float_to_bfloat(result));
    } else {
      const V lower = float_to_bfloat(Operation<Floats>{}(bfloat_to_float(a), bfloat_to_float(b)));
      return lower | (float_to_bfloat(Operation<Floats>{}(upper(a), upper(b))) << 16);
    }
  }
  template <template <class> class Operation, class V, class Argument>
  static constexpr V transform(V value, Argument argument) {
    const Operation<Retyped<float, V>> operation{argument};
    if constexpr (lane_count<V> == 1) {
      return static_cast<V>(float_to_bfloat(operation(bfloat_to_float(std::uint32_t{value}))));
    } else {
      const V lower = float_to_bfloat(operation(bfloat_to_float(value)));
      return lower | (float_to_bfloat(operation(upper(value))) << 16);
    }
  }

 private:
  template <class V>
  static constexpr Retyped<float, V> upper(V pairs) {
    return cast<Retyped<float, V>>(pairs & 0xffff0000u);
  }
};

}  // namespace
}  // namespace tutti
