#pragma once
// The loops around sums in a wider type. Included once per instruction set, as kernel_loops.hpp.

#include <cstddef>

#include "lib/core/reduce/kernels.hpp"
#include "lib/core/reduce/standard_rounding.hpp"
#include "lib/core/reduce/wide_elements.hpp"

namespace tutti {
namespace {

/// The arrays of a sum; `divisor` 1 divides nothing.
struct WideArrays {
  const void* const* operands;
  std::size_t operand_count;
  std::byte* into;
  int divisor;
};

/// Sums whole groups of `registers` x `lanes` elements from `done` on, in bytes; gives how far it came. A group is read
/// before it is written, so that `into` may be an operand.
template <class Element, class Wide, bool is_stochastic, std::size_t lanes, std::size_t registers>
[[gnu::always_inline]] inline std::size_t sum_wide(const WideArrays& arrays, std::size_t done, std::size_t end) {
  using Sum = WideSum<Element, Wide, is_stochastic, lanes>;
  using Elements = typename Sum::Elements;
  constexpr std::size_t step = sizeof(Elements);
  for (; done + registers * step <= end; done += registers * step) {
    Sum sums[registers];
    const auto operand = [&](std::size_t k) { return static_cast<const std::byte*>(arrays.operands[k]) + done; };
    for (std::size_t i = 0; i < registers; ++i)
      sums[i] = Sum{load<Elements>(operand(0) + i * step)};
    for (std::size_t k = 1; k < arrays.operand_count; ++k)
      for (std::size_t i = 0; i < registers; ++i)
        sums[i].add(load<Elements>(operand(k) + i * step));
    if (arrays.divisor > 1)
      for (std::size_t i = 0; i < registers; ++i)
        sums[i].divide(arrays.divisor);
    for (std::size_t i = 0; i < registers; ++i)
      store(arrays.into + done + i * step, sums[i].rounded());
  }
  return done;
}

template <class Element, class Wide, bool is_stochastic, std::size_t lanes>
[[gnu::noinline]] void sum_all_wide(const WideArrays& arrays, std::size_t count) {
  const StandardRounding standard;
  const std::size_t bytes = count * sizeof(typename Element::InMemory);
  const std::size_t done = sum_wide<Element, Wide, is_stochastic, lanes, 2>(arrays, 0, bytes);
  sum_wide<Element, Wide, is_stochastic, 1, 1>(arrays, done, bytes);
}

template <class Element, class Wide, bool is_average, bool is_stochastic, std::size_t lanes>
void wide_sum_of_two(const void* lhs, const void* rhs, void* into, std::size_t count) {
  const void* const operands[] = {lhs, rhs};
  sum_all_wide<Element, Wide, is_stochastic, lanes>({operands, 2, static_cast<std::byte*>(into), is_average ? 2 : 1},
                                                    count);
}

template <class Element, class Wide, bool is_average, bool is_stochastic, std::size_t lanes>
void wide_sum_of_many(const void* const* operands, std::size_t operand_count, void* into, void* also,
                      std::size_t count) {
  const int divisor = is_average ? static_cast<int>(operand_count) : 1;
  sum_all_wide<Element, Wide, is_stochastic, lanes>({operands, operand_count, static_cast<std::byte*>(into), divisor},
                                                    count);
  if (also != nullptr) __builtin_memcpy(also, into, count * sizeof(typename Element::InMemory));
}

}  // namespace
}  // namespace tutti
