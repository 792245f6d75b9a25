#include "apps/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::bench {

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2, lower = (values.size() - 1) / 2;
  return {values.front(), (values[lower] + values[upper]) / 2, values.back()};
}

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double logarithms = 0;
  for (const double value : values) {
    logarithms += std::log(value);
  }
  return std::exp(logarithms / static_cast<double>(values.size()));
}

}  // namespace tutti::bench
