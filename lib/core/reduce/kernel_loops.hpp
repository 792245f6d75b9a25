#pragma once
// The loops around the functors, and the table of them. Included once per instruction set; everything here is in an
// unnamed namespace and calls no function of the standard library, for the reason given in convert.hpp.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/core/reduce/elements.hpp"
#include "lib/core/reduce/kernels.hpp"
#include "lib/core/reduce/out_of_line.hpp"

namespace tutti {
namespace {

/// The arrays that a kernel reads and writes. Where Count is a constant, loops are made for it.
template <class Count>
struct Arrays {
  const void* const* operands;
  Count operand_count;
  void* into;

  const std::byte* operand(std::size_t k, std::size_t at) const {
    return static_cast<const std::byte*>(operands[k]) + at;
  }
  std::byte* result(std::size_t at) const { return static_cast<std::byte*>(into) + at; }
};

// Below, `done` and `end` are in bytes. Forced inlining keeps the pointers and the elements in registers.

/// Combines, from `done` on, whole groups of `registers` x `lanes` elements; gives how far it came. A group is read
/// before it is written, so that `into` may be an operand.
template <class Element, template <class> class Operation, std::size_t lanes, std::size_t registers, class Count>
[[gnu::always_inline]] inline std::size_t fold(const Arrays<Count>& arrays, std::size_t done, std::size_t end) {
  using Value = typename Element::template Value<lanes>;
  constexpr std::size_t step = sizeof(Value);
  for (; done + registers * step <= end; done += registers * step) {
    Value values[registers];
    for (std::size_t i = 0; i < registers; ++i)
      values[i] = Element::template read<Value>(arrays.operand(0, done + i * step));
    for (std::size_t k = 1; k < arrays.operand_count; ++k) {
      const std::byte* const other = arrays.operand(k, done);
      for (std::size_t i = 0; i < registers; ++i)
        values[i] = Element::template combine<Operation>(values[i], Element::template read<Value>(other + i * step));
    }
    for (std::size_t i = 0; i < registers; ++i)
      Element::write(arrays.result(done + i * step), values[i]);
  }
  return done;
}

/// Folds all that is left, in ever fewer lanes down to those of 16 bytes, then one by one.
template <class Element, template <class> class Operation, std::size_t lanes, class Count>
[[gnu::always_inline]] inline void fold_rest(const Arrays<Count>& arrays, std::size_t done, std::size_t end) {
  done = fold<Element, Operation, lanes, 1>(arrays, done, end);
  if constexpr (lanes > 1) {
    constexpr bool narrowest = lanes * sizeof(typename Element::Widest) <= 16;
    if (done < end) fold_rest<Element, Operation, narrowest ? 1 : lanes / 2>(arrays, done, end);
  }
}

/// The bytes that a copy of the second result reads from the nearest cache. Smaller pieces are copied at a lower rate.
constexpr std::size_t copied_at_once = std::size_t{32} << 10;

/// Two registers at a time share the loop's overhead; more make the prefetchers of hardware slower. The second result
/// is copied, and not stored beside the first: it goes to lines that another core has just read, and a copy by
/// memcpy, unlike plain stores, need not fetch them (2 to 3 times the speed where the processor knows `rep movsb`).
template <class Element, template <class> class Operation, std::size_t lanes, class Count>
[[gnu::always_inline]] inline void fold_all(Arrays<Count> arrays, void* also, std::size_t bytes) {
  const std::size_t piece = also == nullptr ? bytes : copied_at_once;
  for (std::size_t begin = 0, end = 0; begin < bytes; begin = end) {
    end = bytes - begin < piece ? bytes : begin + piece;
    const std::size_t done = fold<Element, Operation, lanes, 2>(arrays, begin, end);
    fold_rest<Element, Operation, lanes>(arrays, done, end);
    if (also != nullptr) __builtin_memcpy(static_cast<std::byte*>(also) + begin, arrays.result(begin), end - begin);
  }
}

template <class Element, template <class> class Operation, std::size_t lanes, std::size_t operand_count>
[[gnu::noinline]] void reduce_few(const void* const* operands, void* into, void* also, std::size_t bytes) {
  const void* here[operand_count];
  for (std::size_t k = 0; k < operand_count; ++k)
    here[k] = operands[k];
  const std::integral_constant<std::size_t, operand_count> constant;
  fold_all<Element, Operation, lanes>(Arrays<decltype(constant)>{here, constant, into}, also, bytes);
}

template <class Element, template <class> class Operation, std::size_t lanes, std::size_t element_bytes>
void reduce(const void* lhs, const void* rhs, void* into, std::size_t count) {
  const void* const operands[] = {lhs, rhs};
  const std::size_t bytes = count * element_bytes;
  // Fewer elements than the narrowest lanes take need not be asked for by all the wider ones.
  constexpr std::size_t narrowest = sizeof(typename Element::template Value<16 / sizeof(typename Element::Widest)>);
  if (bytes >= narrowest) return reduce_few<Element, Operation, lanes, 2>(operands, into, nullptr, bytes);
  const std::integral_constant<std::size_t, 2> two;
  fold_rest<Element, Operation, 1>(Arrays<decltype(two)>{operands, two, into}, 0, bytes);
}

/// Loops are made for four operands where reductions of several ranks are common: each takes compile time.
template <class Operation>
constexpr bool is_often_of_four = false;
template <class T>
constexpr bool is_often_of_four<Sum<T>> = true;
template <class T>
constexpr bool is_often_of_four<Minimum<T>> = true;
template <class T>
constexpr bool is_often_of_four<Maximum<T>> = true;

template <class Element, template <class> class Operation, std::size_t lanes, std::size_t element_bytes>
void reduce_many(const void* const* operands, std::size_t operand_count, void* into, void* also, std::size_t count) {
  const std::size_t bytes = count * element_bytes;
  switch (operand_count) {
    case 2:
      return reduce_few<Element, Operation, lanes, 2>(operands, into, also, bytes);
    case 4:
      if constexpr (is_often_of_four<Operation<typename Element::Computed>>)
        return reduce_few<Element, Operation, lanes, 4>(operands, into, also, bytes);
      [[fallthrough]];
    default:
      fold_all<Element, Operation, lanes>(Arrays<std::size_t>{operands, operand_count, into}, also, bytes);
  }
}

/// data[i] = operation(data[i])
template <class Element, template <class> class Operation, std::size_t lanes, class Argument>
std::size_t transform(std::byte* data, std::size_t bytes, std::size_t done, Argument argument) {
  using Value = typename Element::template Value<lanes>;
  for (; done + sizeof(Value) <= bytes; done += sizeof(Value)) {
    const auto value = Element::template read<Value>(data + done);
    Element::write(data + done, Element::template transform<Operation>(value, argument));
  }
  return done;
}

template <class Element, template <class> class Operation, std::size_t lanes, class Argument>
void transform_all(void* data, std::size_t count, Argument argument) {
  auto* const place = static_cast<std::byte*>(data);
  const std::size_t bytes = count * Element::bytes;
  const std::size_t done = transform<Element, Operation, lanes>(place, bytes, 0, argument);
  transform<Element, Operation, 1>(place, bytes, done, argument);
}

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

  static constexpr KernelTable make(const char* name) {
    KernelTable table{name,
                      {},
                      {},
                      {divide_kernel_of<register_bytes, Element>()...},
                      {scale_kernel_of<register_bytes, Element>()...}};
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
    add_booleans(table);
    return table;
  }
};

template <std::size_t register_bytes, class HalfConversion, Operations operations = Operations::all>
constexpr KernelTable make_kernel_table(const char* name) {
  return TableOf<register_bytes, operations, Plain<std::int8_t>, Plain<std::int16_t>, Plain<std::int32_t>,
                 Plain<std::int64_t>, Plain<std::uint8_t>, Plain<std::uint16_t>, Plain<std::uint32_t>,
                 Plain<std::uint64_t>, OutOfLine<Fp8<E4m3>>, OutOfLine<Fp8<E5m2>>, Narrow<HalfConversion>, Bfloat,
                 Plain<float>, Plain<double>, Plain<Complex<float>>, Plain<Complex<double>>>::make(name);
}

}  // namespace
}  // namespace tutti
