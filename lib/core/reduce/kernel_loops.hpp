#pragma once
// The loops around the functors. Included once per instruction set; everything here is in an unnamed namespace and
// calls no function of the standard library, for the reason given in convert.hpp.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/core/reduce/elements.hpp"

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

}  // namespace
}  // namespace tutti
