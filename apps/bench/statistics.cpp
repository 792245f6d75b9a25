#include "apps/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::bench {

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t upper = values.size() / 2, lower = (values.size() - 1) / 2;
  return {values.front(), (values[lower] + values[upper]) / 2, values.back()};
}

Spread in_microseconds(std::span<const double> seconds) {
  const Spread spread = spread_of({seconds.begin(), seconds.end()});
  return {spread.min * 1e6, spread.median * 1e6, spread.max * 1e6};
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

Faster clearly_faster(std::vector<double> ratios) {
  if (ratios.size() < least_rounds_for_clarity) return Faster::unclear;
  std::sort(ratios.begin(), ratios.end());
  const std::size_t quarter = ratios.size() / 4;
  if (ratios[quarter] > 1) return Faster::first;
  return ratios[ratios.size() - 1 - quarter] < 1 ? Faster::second : Faster::unclear;
}

}  // namespace

Comparison compared(std::int64_t at, std::span<const double> first, std::span<const double> second) {
  Comparison result{.at = at, .first_us = in_microseconds(first), .second_us = in_microseconds(second)};
  result.ratio = result.second_us.median / result.first_us.median;
  std::vector<double> ratios;
  for (std::size_t round = 0; round < first.size(); ++round) {
    ratios.push_back(second[round] / first[round]);
  }
  result.faster = clearly_faster(std::move(ratios));
  return result;
}

Crossing crossing_of(std::span<const Comparison> sizes) {
  std::size_t begin = sizes.size();  // of the sizes at which the second is faster, but for unclear ones
  for (std::size_t i = sizes.size(); i > 0 && sizes[i - 1].faster != Faster::first; --i) {
    if (sizes[i - 1].faster == Faster::second) begin = i - 1;
  }
  const bool is_unclear =
      std::all_of(sizes.begin(), sizes.end(), [](const Comparison& each) { return each.faster == Faster::unclear; });
  if (is_unclear) return {};
  if (begin == sizes.size()) return {.kind = Crossing::Kind::never};
  if (begin == 0) return {.kind = Crossing::Kind::always};
  return {.kind = Crossing::Kind::at, .last_before = sizes[begin - 1].at};
}

std::optional<std::int64_t> best_value(std::span<const Comparison> values, std::int64_t today) {
  const Comparison* best = nullptr;
  bool is_today = !values.empty();
  for (const Comparison& value : values) {
    if (value.faster != Faster::first) is_today = false;
    if (value.faster == Faster::second && (best == nullptr || value.ratio < best->ratio)) best = &value;
  }
  if (best != nullptr) return best->at;
  return is_today ? std::optional{today} : std::nullopt;
}

Sides sides_of(std::span<const Comparison> sizes, std::int64_t border) {
  std::vector<double> below, above;
  for (const Comparison& each : sizes) {
    (each.at <= border ? below : above).push_back(each.ratio);
  }
  return {geometric_mean(below), geometric_mean(above)};
}

}  // namespace tutti::bench
