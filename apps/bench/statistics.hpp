#pragma once
// Summaries of repeated measurements, and whether the ratio of two ways of the same call can be believed.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tutti::bench {

/// p10, p90: a tenth of the values are below, above.
struct Spread {
  double min = 0, p10 = 0, median = 0, p90 = 0, max = 0;
};

/// The value below which that share of the values is, between two values in proportion: of an even number of values the
/// median is the mean of the middle two. They are sorted, and there is at least one.
[[nodiscard]] double quantile(std::span<const double> sorted, double share);

/// The spread of at least one value.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// The spread in microseconds of at least one time in seconds.
[[nodiscard]] Spread in_microseconds(std::span<const double> seconds);

/// The mean of positive values; nothing if there are none.
[[nodiscard]] std::optional<double> geometric_mean(std::span<const double> values);

// ---- Whether a ratio can be believed

/// Why a ratio may be due to chance, or to something else than the calls.
enum class Doubt : std::uint8_t {
  few_rounds,   ///< Fewer than least_rounds_for_ratio.
  both_sides,   ///< The middle half of the ratios of single rounds has 1 in it.
  wide_spread,  ///< That half is wider than the ratio is far from 1, both as factors.
  extreme,      ///< Above largest_plausible_ratio, or below 1 over it: rather a rank that did not get a processor.
  load          ///< Other processes took more than most_load of the processors.
};
inline constexpr std::size_t least_rounds_for_ratio = 5;
inline constexpr double largest_plausible_ratio = 10, most_load = 0.12;
[[nodiscard]] std::string_view to_string(Doubt doubt);  ///< The name in files: "few_rounds".

/// The time of a second way over that of a first one, round by round in turns: above 1, the first is faster.
struct Ratio {
  double value = 1;             ///< Of the medians.
  double lower = 1, upper = 1;  ///< The middle half of the ratios of single rounds lies between them.
  std::vector<Doubt> doubts{};
  [[nodiscard]] bool is_resolved() const { return doubts.empty(); }
};

/// The times of both ways in each round, in any unit; at least one round. `load`: the share of the processors that
/// other processes took meanwhile, if it is known.
[[nodiscard]] Ratio ratio_of(std::span<const double> first, std::span<const double> second,
                             std::optional<double> load = {});

}  // namespace tutti::bench
