#include "apps/bench/overlap.hpp"

#include <algorithm>
#include <utility>

namespace tutti::bench {

namespace {

double percent_of(double pure, double compute, double total) { return 100 * (1 - (total - compute) / pure); }

}  // namespace

Overlap overlap_of(std::span<const double> pure, std::span<const double> compute, std::span<const double> total,
                   std::optional<double> load) {
  Overlap overlap{
      .pure_us = in_microseconds(pure), .compute_us = in_microseconds(compute), .total_us = in_microseconds(total)};
  const double unbounded = percent_of(overlap.pure_us.median, overlap.compute_us.median, overlap.total_us.median);
  overlap.percent = std::clamp(unbounded, 0.0, 100.0);
  std::vector<double> rounds;
  for (std::size_t i = 0; i < pure.size(); ++i) {
    rounds.push_back(percent_of(pure[i], compute[i], total[i]));
  }
  std::sort(rounds.begin(), rounds.end());
  overlap.lower = quantile(rounds, 0.25);
  overlap.upper = quantile(rounds, 0.75);
  if (pure.size() < least_rounds_for_ratio) overlap.doubts.push_back(Doubt::few_rounds);
  if (overlap.upper - overlap.lower > most_overlap_spread) overlap.doubts.push_back(Doubt::wide_spread);
  if (unbounded < -most_overlap_spread || unbounded > 100 + most_overlap_spread)
    overlap.doubts.push_back(Doubt::extreme);
  if (load && *load > most_load) overlap.doubts.push_back(Doubt::load);
  return overlap;
}

OverlappedCall::OverlappedCall(double pure_seconds) : computation_(pure_seconds) {}

void OverlappedCall::measures(Repeater& pure, std::unique_ptr<Repeater> total) {
  pure_ = &pure;
  alone_ = repeater([this] { computation_.run(); });
  total_ = std::move(total);
}

}  // namespace tutti::bench
