#include "apps/bench/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace tutti::bench {

double quantile(std::span<const double> sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  if (below + 1 >= sorted.size()) return sorted.back();
  return std::lerp(sorted[below], sorted[below + 1], place - static_cast<double>(below));
}

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {.min = values.front(),
          .p10 = quantile(values, 0.1),
          .median = quantile(values, 0.5),
          .p90 = quantile(values, 0.9),
          .max = values.back()};
}

Spread in_microseconds(std::span<const double> seconds) {
  std::vector<double> values(seconds.begin(), seconds.end());
  for (double& value : values) {
    value *= 1e6;
  }
  return spread_of(std::move(values));
}

std::optional<double> geometric_mean(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  double logarithms = 0;
  for (const double value : values) {
    logarithms += std::log(value);
  }
  return std::exp(logarithms / static_cast<double>(values.size()));
}

namespace {

/// The borders of the middle half of the ratios of single rounds.
std::pair<double, double> middle_half(std::span<const double> first, std::span<const double> second) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < first.size(); ++round) {
    ratios.push_back(second[round] / first[round]);
  }
  std::sort(ratios.begin(), ratios.end());
  const std::size_t quarter = ratios.size() / 4;
  return {ratios[quarter], ratios[ratios.size() - 1 - quarter]};
}

double median_of(std::span<const double> values) { return spread_of({values.begin(), values.end()}).median; }

}  // namespace

std::string_view to_string(Doubt doubt) {
  switch (doubt) {
    case Doubt::few_rounds:
      return "few_rounds";
    case Doubt::both_sides:
      return "both_sides";
    case Doubt::wide_spread:
      return "wide_spread";
    case Doubt::extreme:
      return "extreme";
    case Doubt::load:
      break;
  }
  return "load";
}

Ratio ratio_of(std::span<const double> first, std::span<const double> second, std::optional<double> load) {
  Ratio ratio{.value = median_of(second) / median_of(first)};
  std::tie(ratio.lower, ratio.upper) = middle_half(first, second);
  const double distance = std::abs(std::log(ratio.value));
  if (first.size() < least_rounds_for_ratio) ratio.doubts.push_back(Doubt::few_rounds);
  if (ratio.lower <= 1 && ratio.upper >= 1)
    ratio.doubts.push_back(Doubt::both_sides);
  else if (std::log(ratio.upper / ratio.lower) > distance)
    ratio.doubts.push_back(Doubt::wide_spread);
  if (distance > std::log(largest_plausible_ratio)) ratio.doubts.push_back(Doubt::extreme);
  if (load && *load > most_load) ratio.doubts.push_back(Doubt::load);
  return ratio;
}

}  // namespace tutti::bench
