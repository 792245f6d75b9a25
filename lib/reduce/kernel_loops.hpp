#pragma once
// The loops around the functors, and the table of them. Included once per instruction set; everything here is in an
// unnamed namespace and calls no function of the standard library, for the reason given in convert.hpp.
//
// Elements are read and written by memcpy, which compiles to the plain access: buffers come as void*, of any type of
// the right size (std::complex, tutti::Half), and need not even be aligned.

#include <cstddef>
#include <cstdint>

#include "lib/reduce/convert.hpp"
#include "lib/reduce/functors.hpp"
#include "lib/reduce/kernel_table.hpp"

namespace tutti {
namespace {

template <class T>
struct Elements {
  static T load(const std::byte* from, std::size_t index) {
    T value;
    __builtin_memcpy(&value, from + index * sizeof(T), sizeof(T));
    return value;
  }
  static void store(std::byte* to, std::size_t index, T value) {
    __builtin_memcpy(to + index * sizeof(T), &value, sizeof(T));
  }
};

template <class Part>
struct Elements<Complex<Part>> {
  static Complex<Part> load(const std::byte* from, std::size_t index) {
    return {Elements<Part>::load(from, 2 * index), Elements<Part>::load(from, 2 * index + 1)};
  }
  static void store(std::byte* to, std::size_t index, Complex<Part> value) {
    Elements<Part>::store(to, 2 * index, value.re);
    Elements<Part>::store(to, 2 * index + 1, value.im);
  }
};

/// into[i] = operation(into[i], other[i])
template <class Operation, class T>
void combine_in_place(const std::byte* __restrict other, std::byte* __restrict into, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Elements<T>::store(into, i, Operation{}(Elements<T>::load(into, i), Elements<T>::load(other, i)));
  }
}

/// into[i] = operation(lhs[i], rhs[i])
template <class Operation, class T>
void combine_apart(const std::byte* __restrict lhs, const std::byte* __restrict rhs, std::byte* __restrict into,
                   std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Elements<T>::store(into, i, Operation{}(Elements<T>::load(lhs, i), Elements<T>::load(rhs, i)));
  }
}

/// A kernel for types that are computed as they are. The loops are told apart by what may overlap (nothing, within
/// each of them), or the compiler would vectorise none for `into` equal to an operand.
template <class Operation, class T>
void combine(const void* lhs, const void* rhs, void* into, std::size_t count) {
  const auto* left = static_cast<const std::byte*>(lhs);
  const auto* right = static_cast<const std::byte*>(rhs);
  auto* result = static_cast<std::byte*>(into);
  if (left == result) {
    combine_in_place<Operation, T>(right, result, count);
  } else if (right == result) {
    combine_in_place<Operation, T>(left, result, count);  // the functors commute
  } else {
    combine_apart<Operation, T>(left, right, result, count);
  }
}

template <class Operation, class T>
void transform(Operation operation, void* data, std::size_t count) {
  auto* elements = static_cast<std::byte*>(data);
  for (std::size_t i = 0; i < count; ++i) {
    Elements<T>::store(elements, i, operation(Elements<T>::load(elements, i)));
  }
}

// 16-bit floating point goes through float a block at a time, in loops that do one thing each and vectorise well.
constexpr std::size_t block = 256;

template <class Conversion, class Operation>
void combine_narrow(const void* lhs, const void* rhs, void* into, std::size_t count) {
  float left[block], right[block];
  for (std::size_t done = 0; done < count; done += block) {
    const std::size_t now = count - done < block ? count - done : block;
    Conversion::widen(static_cast<const std::byte*>(lhs) + 2 * done, left, now);
    Conversion::widen(static_cast<const std::byte*>(rhs) + 2 * done, right, now);
    for (std::size_t i = 0; i < now; ++i)
      left[i] = Operation{}(left[i], right[i]);
    Conversion::narrow(left, static_cast<std::byte*>(into) + 2 * done, now);
  }
}

template <class Conversion, class Operation>
void transform_narrow(Operation operation, void* data, std::size_t count) {
  float values[block];
  for (std::size_t done = 0; done < count; done += block) {
    const std::size_t now = count - done < block ? count - done : block;
    std::byte* const place = static_cast<std::byte*>(data) + 2 * done;
    Conversion::widen(place, values, now);
    for (std::size_t i = 0; i < now; ++i)
      values[i] = operation(values[i]);
    Conversion::narrow(values, place, now);
  }
}

/// fp16 by integer arithmetic.
struct PortableHalf {
  static void widen(const std::byte* __restrict from, float* __restrict to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = half_to_float(Elements<std::uint16_t>::load(from, i));
  }
  static void narrow(const float* __restrict from, std::byte* __restrict to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      Elements<std::uint16_t>::store(to, i, float_to_half(from[i]));
  }
};

struct PortableBfloat {
  static void widen(const std::byte* __restrict from, float* __restrict to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      to[i] = bfloat_to_float(Elements<std::uint16_t>::load(from, i));
  }
  static void narrow(const float* __restrict from, std::byte* __restrict to, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      Elements<std::uint16_t>::store(to, i, float_to_bfloat(from[i]));
  }
};

/// A type computed as it is, and one that is converted to float and back.
template <class T>
struct Plain {
  using Computed = T;
  template <class Operation>
  static constexpr ReduceKernel combining = combine<Operation, T>;
  template <class Operation>
  static void finish(Operation operation, void* data, std::size_t count) {
    transform<Operation, T>(operation, data, count);
  }
};

template <class Conversion>
struct Narrow {
  using Computed = float;
  template <class Operation>
  static constexpr ReduceKernel combining = combine_narrow<Conversion, Operation>;
  template <class Operation>
  static void finish(Operation operation, void* data, std::size_t count) {
    transform_narrow<Conversion>(operation, data, count);
  }
};

template <template <class> class Operation, class Element>
constexpr ReduceKernel reduce_kernel_of() {
  using Functor = Operation<typename Element::Computed>;
  if constexpr (Functor::defined) {
    return Element::template combining<Functor>;
  } else {
    return nullptr;
  }
}

template <class Element>
void divide(void* data, std::size_t count, int divisor) {
  Element::finish(Divide<typename Element::Computed>{divisor}, data, count);
}

template <class Element>
void scale(void* data, std::size_t count, double factor) {
  Element::finish(Scale<typename Element::Computed>{factor}, data, count);
}

template <class Element>
constexpr ScaleKernel scale_kernel_of() {
  if constexpr (Scale<typename Element::Computed>::defined) {
    return scale<Element>;
  } else {
    return nullptr;
  }
}

/// The table for these elements, in the order of Type; its rows are in the order of Op::Kind.
template <class... Element>
constexpr KernelTable table_of(const char* name) {
  static_assert(sizeof...(Element) == type_count);
  return {name,
          {{reduce_kernel_of<Sum, Element>()...},
           {reduce_kernel_of<Product, Element>()...},
           {reduce_kernel_of<Minimum, Element>()...},
           {reduce_kernel_of<Maximum, Element>()...},
           {reduce_kernel_of<Sum, Element>()...},  // avg
           {reduce_kernel_of<LogicalAnd, Element>()...},
           {reduce_kernel_of<LogicalOr, Element>()...},
           {reduce_kernel_of<LogicalXor, Element>()...},
           {reduce_kernel_of<BitAnd, Element>()...},
           {reduce_kernel_of<BitOr, Element>()...},
           {reduce_kernel_of<BitXor, Element>()...},
           {reduce_kernel_of<ScaledSum, Element>()...}},
          {divide<Element>...},
          {scale_kernel_of<Element>()...}};
}

template <class HalfConversion>
constexpr KernelTable make_kernel_table(const char* name) {
  return table_of<Plain<std::int8_t>, Plain<std::int16_t>, Plain<std::int32_t>, Plain<std::int64_t>,
                  Plain<std::uint8_t>, Plain<std::uint16_t>, Plain<std::uint32_t>, Plain<std::uint64_t>,
                  Narrow<HalfConversion>, Narrow<PortableBfloat>, Plain<float>, Plain<double>, Plain<Complex<float>>,
                  Plain<Complex<double>>>(name);
}

}  // namespace
}  // namespace tutti
