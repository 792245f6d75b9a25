#pragma once
// Grids: the factors of a number of ranks.

#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "alltoall_pattern.hpp"

namespace tutti {

/// Finds the factors of a number whose sum is least: at most so many, each at least 2, the largest first.
class EvenFactors {
 public:
  EvenFactors(int number, int most) { search(number, most, number); }
  [[nodiscard]] const std::vector<int>& factors() const { return best_; }

 private:
  void search(int number, int most, int largest) {
    if (number == 1 && (best_.empty() || sum(found_) < sum(best_))) best_ = found_;
    if (number == 1 || most == 0) return;
    for (int factor = largest; factor > 1; --factor) {
      if (number % factor != 0) continue;
      found_.push_back(factor);
      search(number / factor, most - 1, std::min(factor, number / factor));
      found_.pop_back();
    }
  }
  static int sum(const std::vector<int>& numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0); }
  std::vector<int> found_, best_;
};

/// Radices of which each is the root of what the ones before leave, rounded up: their product is at least `number`.
inline std::vector<int> near_roots(int number, int most) {
  std::vector<int> radices;
  std::int64_t product = 1;
  for (; product < number; --most) {
    const auto reaches = [&](int radix) {
      std::int64_t reach = product;
      for (int i = 0; i < most && reach < number; ++i)
        reach *= radix;
      return reach >= number;
    };
    int radix = 2;
    while (!reaches(radix))
      ++radix;
    radices.push_back(radix);
    product *= radix;
  }
  return radices;
}

/// The digits of distances on a grid of at most `dimensions`: its sides are factors of `size`, and distances those on
/// a torus. If the factors are so uneven that ranks would send more messages than by digits of near-equal radices,
/// whose product need not be `size`, then those, on a circle.
inline Digits grid_digits(int size, int dimensions) {
  const auto messages = [size](const std::vector<int>& radices) {
    std::int64_t messages = 0, place = 1;
    for (const int radix : radices) {
      messages += std::min<std::int64_t>(radix - 1, (size - 1) / place);
      place *= radix;
    }
    return messages;
  };
  std::vector<int> sides = EvenFactors{size, dimensions}.factors(), roots = near_roots(size, dimensions);
  if (messages(roots) < messages(sides)) return {std::move(roots), Torus{{size}}};
  return {sides, Torus{sides}};
}

}  // namespace tutti
