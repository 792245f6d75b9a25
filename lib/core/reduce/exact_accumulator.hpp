#pragma once
// The exact sum of any number of floating-point numbers, as integers that add up: sums of parts of an array become the
// sum of all of it by the addition of their words.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tutti/datatype.hpp"

namespace tutti {

/// A long fixed-point number in digits of 32 bits, which carry only now and then, and counters of what is no number
/// (Kulisch; Neal, arXiv 1505.05571).
class ExactAccumulator {
 public:
  static constexpr std::size_t digit_count = 69;
  /// Digits from the lowest on, then the numbers of +inf, of -inf, of NaNs, and of all else but -0.
  static constexpr std::size_t word_count = digit_count + 4;
  using Words = std::array<std::int64_t, word_count>;

  /// Adds elements of fp16, bf16, fp32 or fp64; every `stride`-th, from the first on. O(count).
  void add(const void* data, Type type, std::size_t count, std::size_t stride = 1);
  /// The words, so small that those of 2^31 accumulators add up without overflow.
  [[nodiscard]] const Words& words();
  /// The sum that the words of one or more accumulators add up to, rounded once to an element of `type`.
  static void round(std::span<const std::int64_t, word_count> words, Type type, void* into);

 private:
  void carry();

  Words words_{};
  std::size_t added_ = 0;  ///< Since digits have carried.
};

}  // namespace tutti
