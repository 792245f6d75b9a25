#pragma once
// Two ways of the same call, measured in turns at several sizes: which is faster, and from which size on.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/bench/statistics.hpp"

namespace tutti::bench {

/// unclear: the ways differ less than the rounds do.
enum class Faster : std::uint8_t { unclear, first, second };

/// Two ways at one size, or at one value of a setting that the second has.
struct Comparison {
  std::int64_t at = 0;
  Spread first_us, second_us;
  double ratio = 1;  ///< Of the medians: above 1, the first is faster.
  Faster faster = Faster::unclear;
};

/// Of the seconds that each round took, which belong together in pairs. The faster way is clear if the middle half of
/// the ratios of these pairs lies on one side of 1. It is never clear from fewer rounds than these:
inline constexpr std::size_t least_rounds_for_clarity = 3;
[[nodiscard]] Comparison compared(std::int64_t at, std::span<const double> first, std::span<const double> second);

/// Where the second way begins to be faster.
struct Crossing {
  enum class Kind : std::uint8_t {
    unclear,  ///< Neither is clearly faster anywhere.
    never,    ///< The second is not faster up to the largest size.
    always,   ///< It is faster from the smallest size on.
    at        ///< It is from the size after `last_before` on, and stays so.
  };
  Kind kind = Kind::unclear;
  std::int64_t last_before = 0;
};
/// The comparisons come by size.
[[nodiscard]] Crossing crossing_of(std::span<const Comparison> sizes);

/// Of a setting whose value is `today` in the first way: the value that is clearly the fastest, which may be today's;
/// nothing if there is none. The comparisons come by value, without today's.
[[nodiscard]] std::optional<std::int64_t> best_value(std::span<const Comparison> values, std::int64_t today);

/// Geometric means of the ratios on both sides of a border, which is below; nothing where there are none.
struct Sides {
  std::optional<double> below, above;
};
[[nodiscard]] Sides sides_of(std::span<const Comparison> sizes, std::int64_t border);

}  // namespace tutti::bench
