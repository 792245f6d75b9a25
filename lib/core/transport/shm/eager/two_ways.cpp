#include "lib/core/transport/shm/eager/two_ways.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti::shm {
namespace {

/// Weights of a new cost. A rank that loses its processor, or touches memory for the first time, takes longer, never
/// less: a lower cost counts more than a higher one, and no cost counts for more than `outlier` times the known one.
constexpr double lower = 1.0 / 2, higher = 1.0 / 8, outlier = 2;

std::size_t index(TwoWays::Way way) { return static_cast<std::size_t>(way); }

}  // namespace

TwoWays::Way TwoWays::choose() {
  constexpr unsigned in_a_row = 3;
  const bool is_known = costs_[index(Way::other)] > 0;
  const bool is_cheaper = is_known && costs_[index(Way::other)] < costs_[index(Way::usual)];
  if (trials_ == 0 && --left_ == 0) {
    gap_ = std::min(2 * gap_ + 1, tried_once_in_);
    left_ = gap_;
    trials_ = in_a_row;
    tried_ = is_cheaper ? Way::usual : Way::other;
  }
  if (trials_ > 0) {
    --trials_;
    return tried_;
  }
  return is_cheaper ? Way::other : Way::usual;
}

void TwoWays::add(Way way, double cost) {
  double& known = costs_[index(way)];
  if (known == 0) known = cost;
  known += (cost < known ? lower : higher) * (std::min(cost, outlier * known) - known);
}

}  // namespace tutti::shm
