#pragma once
// Values that show whether a reduction was done right.

#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/bench/memory.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"

namespace tutti::bench {

/// The element at `position` on `rank` of `ranks`: a small integer that depends on both, chosen for the operation so
/// that every partial result, in any order, is exact in the type: an integer up to 127; for fp8 up to 8, or a power
/// of 2.
[[nodiscard]] int pattern_value(Type type, Op::Kind op, int rank, int ranks, std::int64_t position);

/// Positions after which the values recur: a prime, so that blocks of any usual size differ.
inline constexpr std::int64_t pattern_period = 997;

/// Periodic elements as bytes in memory.
class Pattern {
 public:
  /// `value(position)` for each position of a period.
  Pattern(Type type, const std::function<std::complex<double>(std::int64_t)>& value);

  /// The values from `position` on.
  void write_to(const BenchMemory& memory, std::span<std::byte> data, std::int64_t position = 0) const;
  /// Elements of `data` that differ by more than `tolerance` (relative to the pattern; NaN differs from everything)
  /// from the values from `position` on.
  [[nodiscard]] std::int64_t differences(const BenchMemory& memory, std::span<const std::byte> data, double tolerance,
                                         std::int64_t position = 0) const;

 private:
  /// Bytes to be written or read at once, however many there are.
  [[nodiscard]] std::span<const std::byte> from(std::int64_t position) const;

  Type type_;
  std::vector<std::byte> block_;  ///< A number of periods.
};

/// The contribution of `rank`.
[[nodiscard]] Pattern input_pattern(Type type, const Op& op, int rank, int ranks);
/// The contributions of all ranks, combined; or only those of the ranks below `end`.
[[nodiscard]] Pattern reduced_pattern(Type type, const Op& op, int ranks);
[[nodiscard]] Pattern reduced_pattern(Type type, const Op& op, int ranks, int end);
/// Values that are neither contributions nor results.
[[nodiscard]] Pattern untouched_pattern(Type type);
/// How far a right result may be from reduced_pattern: 0, except where it is rounded (avg of floating-point numbers).
[[nodiscard]] double rounding_tolerance(Type type, const Op& op);

}  // namespace tutti::bench
