#pragma once
// Summaries of repeated measurements.

#include <optional>
#include <span>
#include <vector>

namespace tutti::bench {

struct Spread {
  double min = 0, median = 0, max = 0;
};

/// Of at least one value. The median of an even number of values is the mean of the middle two.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Of positive values; nothing if there are none.
[[nodiscard]] std::optional<double> geometric_mean(std::span<const double> values);

}  // namespace tutti::bench
