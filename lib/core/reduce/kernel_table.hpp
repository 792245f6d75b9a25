#pragma once
// The table of kernels: which loop serves an operation and a type. Included once per instruction set, as
// kernel_loops.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/core/reduce/elements.hpp"
#include "lib/core/reduce/exact_loops.hpp"
#include "lib/core/reduce/kernel_loops.hpp"
#include "lib/core/reduce/kernels.hpp"
#include "lib/core/reduce/out_of_line.hpp"

namespace tutti {
namespace {

template <std::size_t register_bytes, class Element>
constexpr std::size_t lanes_of = register_bytes / sizeof(typename Element::Widest);

template <class Operation>
constexpr bool is_of_bits = false;
template <class T>
constexpr bool is_of_bits<BitAnd<T>> = true;
template <class T>
constexpr bool is_of_bits<BitOr<T>> = true;
template <class T>
constexpr bool is_of_bits<BitXor<T>> = true;

/// The elements whose kernel serves: sums of complex numbers are those of their parts, only the order of integers
/// depends on their signs, and operations on bits take two elements of 32 bits for one of 64.
template <template <class> class Operation, class Element>
struct MakeSimplest {
  using Type = Element;
};
template <class Part>
struct MakeSimplest<Sum, Plain<Complex<Part>>> {
  using Type = Plain<Part>;
};
template <template <class> class Operation, std::signed_integral T>
requires(!std::is_same_v<Operation<T>, Minimum<T>> &&
         !std::is_same_v<Operation<T>, Maximum<T>>) struct MakeSimplest<Operation, Plain<T>>
    : MakeSimplest<Operation, Plain<std::make_unsigned_t<T>>> {
};
template <template <class> class Operation, std::unsigned_integral T>
requires(is_of_bits<Operation<T>> && sizeof(T) == 8) struct MakeSimplest<Operation, Plain<T>> {
  using Type = Plain<std::uint32_t>;
};
template <template <class> class Operation, std::unsigned_integral T>
requires(is_of_bits<Operation<T>> && sizeof(T) == 2) struct MakeSimplest<Operation, Plain<T>> {
  using Type = Plain<std::uint8_t>;
};
template <template <class> class Operation, class Element>
using Simplest = typename MakeSimplest<Operation, Element>::Type;

/// The operations of a table that has not all of them: those that another table's kernels take as long for, as logical
/// operations and those on bits wait for memory.
enum class Operations : std::uint8_t { all, arithmetic };

template <std::size_t register_bytes, template <class> class Operation, class Element>
constexpr ReduceKernel reduce_kernel_of() {
  using As = Simplest<Operation, Element>;
  if constexpr (Operation<typename Element::Computed>::defined) {
    return reduce<As, Operation, lanes_of<register_bytes, As>, Element::bytes>;
  } else {
    return nullptr;
  }
}

template <std::size_t register_bytes, template <class> class Operation, class Element>
constexpr ReduceManyKernel reduce_many_kernel_of() {
  using As = Simplest<Operation, Element>;
  if constexpr (Operation<typename Element::Computed>::defined) {
    return reduce_many<As, Operation, lanes_of<register_bytes, As>, Element::bytes>;
  } else {
    return nullptr;
  }
}

template <class Element, std::size_t lanes>
void sum_of_two(const void* lhs, const void* rhs, void* into, std::size_t count) {
  const StandardRounding standard;
  reduce<Element, SumOfTwo, lanes, Element::bytes>(lhs, rhs, into, count);
}
template <class Element, std::size_t lanes, std::size_t lanes_of_doubles>
void sum_of_many(const void* const* operands, std::size_t operand_count, void* into, void* also, std::size_t count) {
  using Exact = MakeExact<Element>;
  if (operand_count == 2) {
    const StandardRounding standard;
    return reduce_many<Element, SumOfTwo, lanes, Element::bytes>(operands, operand_count, into, also, count);
  }
  exact_sum<typename Exact::Type, Exact::count, lanes_of_doubles>(operands, operand_count, into, count);
  if (also != nullptr) __builtin_memcpy(also, into, count * Element::bytes);
}

template <std::size_t register_bytes, class Element>
constexpr ReduceKernel exact_sum_of_two() {
  if constexpr (MakeExact<Element>::defined) {
    return sum_of_two<Element, lanes_of<register_bytes, Element>>;
  } else {
    return nullptr;
  }
}
template <std::size_t register_bytes, class Element>
constexpr ReduceManyKernel exact_sum_of_many() {
  if constexpr (MakeExact<Element>::defined) {
    return sum_of_many<Element, lanes_of<register_bytes, Element>, register_bytes / sizeof(double)>;
  } else {
    return nullptr;
  }
}

/// Processors have no division of integers in lanes.
template <std::size_t register_bytes, class Element>
constexpr DivideKernel divide_kernel_of() {
  constexpr bool one_by_one = is_integer_number<typename Element::Computed>;
  return transform_all < Element, Divide, one_by_one ? 1 : lanes_of<register_bytes, Element>, int > ;
}

template <std::size_t register_bytes, class Element>
constexpr ScaleKernel scale_kernel_of() {
  if constexpr (Scale<typename Element::Computed>::defined) {
    return transform_all<Element, Scale, lanes_of<register_bytes, Element>, double>;
  } else {
    return nullptr;
  }
}

/// The table for these elements, in the order of Type.
template <std::size_t register_bytes, Operations operations, class... Element>
struct TableOf {
  static constexpr int computed = sizeof...(Element);
  static_assert(computed == static_cast<int>(Type::boolean) && computed + 1 == type_count);

  template <template <class> class Operation>
  static constexpr void add(Op::Kind kind, KernelTable& table) {
    const ReduceKernel two[] = {reduce_kernel_of<register_bytes, Operation, Element>()...};
    const ReduceManyKernel many[] = {reduce_many_kernel_of<register_bytes, Operation, Element>()...};
    for (int type = 0; type < computed; ++type) {
      table.reduce[static_cast<int>(kind)][type] = two[type];
      table.reduce_many[static_cast<int>(kind)][type] = many[type];
    }
  }

  /// Combines as sum, and is for the types that can be scaled.
  static constexpr void add_scaled_sum(KernelTable& table) {
    constexpr int sum = static_cast<int>(Op::Kind::sum), scaled_sum = static_cast<int>(Op::Kind::scaled_sum);
    constexpr bool is_scaled[] = {Scale<typename Element::Computed>::defined...};
    for (int type = 0; type < computed; ++type) {
      if (!is_scaled[type]) continue;
      table.reduce[scaled_sum][type] = table.reduce[sum][type];
      table.reduce_many[scaled_sum][type] = table.reduce_many[sum][type];
    }
  }

  static constexpr void add_exact_sum(KernelTable& table) {
    constexpr int kind = static_cast<int>(Op::Kind::exact_sum);
    const ReduceKernel two[] = {exact_sum_of_two<register_bytes, Element>()...};
    const ReduceManyKernel many[] = {exact_sum_of_many<register_bytes, Element>()...};
    for (int type = 0; type < computed; ++type) {
      table.reduce[kind][type] = two[type];
      table.reduce_many[kind][type] = many[type];
    }
  }

  /// The logical operations of bytes.
  static constexpr void add_booleans(KernelTable& table) {
    constexpr int boolean = static_cast<int>(Type::boolean), byte = static_cast<int>(Type::uint8);
    for (int kind = 0; kind < built_in_kinds; ++kind) {
      const auto logical = detail::of_booleans(static_cast<Op::Kind>(kind));
      if (!logical) continue;
      table.reduce[kind][boolean] = table.reduce[static_cast<int>(*logical)][byte];
      table.reduce_many[kind][boolean] = table.reduce_many[static_cast<int>(*logical)][byte];
    }
  }

  static constexpr KernelTable make(const char* name, const LowPrecisionKernels* low_precision) {
    KernelTable table{name,
                      {},
                      {},
                      {divide_kernel_of<register_bytes, Element>()...},
                      {scale_kernel_of<register_bytes, Element>()...},
                      low_precision};
    add<Sum>(Op::Kind::sum, table);
    add<Product>(Op::Kind::prod, table);
    add<Minimum>(Op::Kind::min, table);
    add<Maximum>(Op::Kind::max, table);
    add<Sum>(Op::Kind::avg, table);
    if constexpr (operations == Operations::all) {
      add<LogicalAnd>(Op::Kind::land, table);
      add<LogicalOr>(Op::Kind::lor, table);
      add<LogicalXor>(Op::Kind::lxor, table);
      add<BitAnd>(Op::Kind::band, table);
      add<BitOr>(Op::Kind::bor, table);
      add<BitXor>(Op::Kind::bxor, table);
    }
    add_scaled_sum(table);
    add_exact_sum(table);
    add_booleans(table);
    return table;
  }
};

template <std::size_t register_bytes, class HalfConversion, Operations operations = Operations::all>
constexpr KernelTable make_kernel_table(const char* name, const LowPrecisionKernels* low_precision) {
  return TableOf<register_bytes, operations, Plain<std::int8_t>, Plain<std::int16_t>, Plain<std::int32_t>,
                 Plain<std::int64_t>, Plain<std::uint8_t>, Plain<std::uint16_t>, Plain<std::uint32_t>,
                 Plain<std::uint64_t>, OutOfLine<Fp8<E4m3>>, OutOfLine<Fp8<E5m2>>, Narrow<HalfConversion>, Bfloat,
                 Plain<float>, Plain<double>, Plain<Complex<float>>, Plain<Complex<double>>>::make(name, low_precision);
}

}  // namespace
}  // namespace tutti
