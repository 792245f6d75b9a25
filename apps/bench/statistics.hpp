#pragma once
// Summaries of repeated measurements, and comparisons of two ways of the same call that were measured in turns at
// several sizes: which is faster, and from which size on.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tutti::bench {

struct Spread {
  double min = 0, median = 0, max = 0;
};

/// The spread of at least one value. The median of an even number of values is the mean of the middle two.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// The spread in microseconds of at least one time in seconds.
[[nodiscard]] Spread in_microseconds(std::span<const double> seconds);

/// The mean of positive values; nothing if there are none.
[[nodiscard]] std::optional<double> geometric_mean(std::span<const double> values);

/// unclear: the ways differ less than the rounds do.
enum class Faster : std::uint8_t { unclear, first, second };

/// Two ways at one size, or at one value of a setting that the second has.
struct Comparison {
  std::int64_t at = 0;
  Spread first_us, second_us;
  double ratio = 1;  ///< The ratio of the medians: above 1, the first is faster.
  Faster faster = Faster::unclear;
};

/// Compares the seconds that each round took, which belong together in pairs. The faster way is clear if the middle
/// half of the ratios of these pairs lies on one side of 1. It is never clear from fewer rounds than these:
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

/// The value of a setting that is clearly the fastest, which may be `today`, that of the first way; nothing if there is
/// none. The comparisons come by value, without today's.
[[nodiscard]] std::optional<std::int64_t> best_value(std::span<const Comparison> values, std::int64_t today);

/// Geometric means of the ratios on both sides of a border, which is below; nothing where there are none.
struct Sides {
  std::optional<double> below, above;
};
[[nodiscard]] Sides sides_of(std::span<const Comparison> sizes, std::int64_t border);

}  // namespace tutti::bench
