#pragma once
// The loops around exact sums. Included once per instruction set, as kernel_loops.hpp.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "lib/core/reduce/exact_elements.hpp"
#include "lib/core/reduce/kernels.hpp"
#include "lib/core/reduce/standard_rounding.hpp"

namespace tutti {
namespace {

/// The sum of one element of every operand, by its digits.
template <class Exact>
typename Exact::InMemory sum_of_digits(const void* const* operands, std::size_t operand_count, std::size_t at) {
  const auto operand = [=](std::size_t k) {
    const auto value = load<typename Exact::InMemory>(static_cast<const std::byte*>(operands[k]) + at);
    return cast<std::uint64_t>(Exact::widen(value));
  };
  using Bits = typename Exact::Form::Bits;
  const auto rounded = SumOfDigits{operand, operand_count}.template rounded<typename Exact::Form>();
  return cast<typename Exact::InMemory>(static_cast<Bits>(rounded));
}

template <class Lost>
[[gnu::always_inline]] inline bool is_any(Lost lost) {
  if constexpr (lane_count<Lost> == 1) {
    return lost != 0;
  } else {
    std::int64_t joined = 0;
    for (std::size_t lane = 0; lane < lane_count<Lost>; ++lane)
      joined |= lost[lane];
    return joined != 0;
  }
}

/// The results of `lanes` elements where some of the sums were lost, into `result`.
template <class Exact, std::size_t lanes>
[[gnu::noinline]] void sum_digits(const void* const* operands, std::size_t operand_count, std::size_t at,
                                  const Lanes<std::int64_t, lanes>& lost, std::byte* result) {
  constexpr std::size_t element = sizeof(typename Exact::InMemory);
  std::int64_t is_lost[lanes];
  __builtin_memcpy(is_lost, &lost, sizeof is_lost);
  for (std::size_t lane = 0; lane < lanes; ++lane)
    if (is_lost[lane] != 0)
      store(result + lane * element, sum_of_digits<Exact>(operands, operand_count, at + lane * element));
}

template <class Exact, std::size_t lanes>
void sum_with_rest(const void* const* operands, std::size_t operand_count, std::size_t at, std::byte* result);

/// Sums `registers` x `lanes` elements from `at` on, into `result`, by Sum; where that loses anything, by the next way.
template <class Exact, template <class> class Sum, std::size_t lanes, std::size_t registers>
[[gnu::always_inline]] inline void sum_group(const void* const* operands, std::size_t operand_count, std::size_t at,
                                             std::byte* result) {
  using InMemory = Lanes<typename Exact::InMemory, lanes>;
  constexpr std::size_t step = sizeof(InMemory);
  const auto operand = [&](std::size_t k) { return static_cast<const std::byte*>(operands[k]) + at; };
  Sum<Lanes<double, lanes>> sums[registers];
  for (std::size_t i = 0; i < registers; ++i)
    sums[i] = Sum<Lanes<double, lanes>>{Exact::widen(load<InMemory>(operand(0) + i * step))};
  for (std::size_t k = 1; k < operand_count; ++k)
    for (std::size_t i = 0; i < registers; ++i)
      sums[i].add(Exact::widen(load<InMemory>(operand(k) + i * step)));
  for (std::size_t i = 0; i < registers; ++i) {
    store(result + i * step, Exact::narrow(sums[i]));
    if (!is_any(sums[i].lost())) continue;
    if constexpr (std::is_same_v<Sum<double>, SumAlone<double>>) {
      sum_with_rest<Exact, lanes>(operands, operand_count, at + i * step, result + i * step);
    } else {
      sum_digits<Exact, lanes>(operands, operand_count, at + i * step, sums[i].lost(), result + i * step);
    }
  }
}
template <class Exact, std::size_t lanes>
[[gnu::noinline]] void sum_with_rest(const void* const* operands, std::size_t operand_count, std::size_t at,
                                     std::byte* result) {
  sum_group<Exact, SumWithRest, lanes, 1>(operands, operand_count, at, result);
}

/// Sums whole groups of `registers` x `lanes` elements from `done` on, in bytes; gives how far it came. A group is read
/// before it is written, so that `into` may be an operand.
template <class Exact, std::size_t lanes, std::size_t registers>
[[gnu::always_inline]] inline std::size_t sum_groups(const void* const* operands, std::size_t operand_count,
                                                     std::byte* into, std::size_t done, std::size_t end) {
  constexpr std::size_t group = registers * lanes * sizeof(typename Exact::InMemory);
  for (; done + group <= end; done += group) {
    std::byte result[group];
    if constexpr (Exact::Form::digits < Binary64::digits) {
      sum_group<Exact, SumAlone, lanes, registers>(operands, operand_count, done, result);
    } else {
      sum_group<Exact, SumWithRest, lanes, registers>(operands, operand_count, done, result);
    }
    __builtin_memcpy(into + done, result, sizeof result);
  }
  return done;
}

template <class Exact, std::size_t lanes>
[[gnu::noinline]] void sum_all(const void* const* operands, std::size_t operand_count, std::byte* into,
                               std::size_t bytes) {
  const std::size_t done = sum_groups<Exact, lanes, 2>(operands, operand_count, into, 0, bytes);
  sum_groups<Exact, 1, 1>(operands, operand_count, into, done, bytes);
}

template <class Exact, std::size_t parts, std::size_t lanes>
void exact_sum(const void* const* operands, std::size_t operand_count, void* into, std::size_t count) {
  const StandardRounding standard;
  sum_all<Exact, lanes>(operands, operand_count, static_cast<std::byte*>(into),
                        count * parts * sizeof(typename Exact::InMemory));
}

}  // namespace
}  // namespace tutti
