#include "lib/core/reduce/top_k.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace tutti {
namespace {

/// Magnitudes are in the order of their bits, without the sign. All NaNs have the same.
std::uint32_t magnitude_of(float value) {
  constexpr std::uint32_t above_infinity = 0x7f800001U;
  return std::min(std::bit_cast<std::uint32_t>(value) & 0x7fffffffU, above_infinity);
}

/// A magnitude: k elements are at least as large. So many of them are larger.
struct Threshold {
  std::uint32_t magnitude = 0;
  std::size_t larger = 0;
};

/// A radix select: of 31 bits, 11, then 10, then 10. Each pass counts the digits of those that begin as the k-th does.
Threshold threshold_of(std::span<const float> values, std::size_t k) {
  Threshold found;
  std::uint32_t known = 0;  // the bits of found.magnitude that are found
  for (const auto& [shift, width] : {std::pair{20U, 11U}, std::pair{10U, 10U}, std::pair{0U, 10U}}) {
    std::array<std::size_t, 1U << 11U> counts{};
    const std::uint32_t digits = (1U << width) - 1;
    for (const float value : values) {
      const std::uint32_t magnitude = magnitude_of(value);
      if ((magnitude & known) == found.magnitude) ++counts[magnitude >> shift & digits];
    }
    std::uint32_t digit = digits;
    while (found.larger + counts[digit] < k)
      found.larger += counts[digit--];
    found.magnitude |= digit << shift;
    known |= digits << shift;
  }
  return found;
}

}  // namespace

void select_top(std::span<const float> values, std::size_t k, std::byte* out) {
  if (k == 0) return;
  const Threshold threshold = threshold_of(values, k);
  std::size_t equals = k - threshold.larger, chosen = 0;
  std::byte* const kept = out + k * sizeof(std::uint32_t);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t magnitude = magnitude_of(values[i]);
    if (magnitude < threshold.magnitude || (magnitude == threshold.magnitude && equals == 0)) continue;
    if (magnitude == threshold.magnitude) --equals;
    const auto place = static_cast<std::uint32_t>(i);
    std::memcpy(out + chosen * sizeof place, &place, sizeof place);
    std::memcpy(kept + chosen * sizeof(float), &values[i], sizeof(float));
    ++chosen;
  }
}

Selected selected(const std::byte* in, std::size_t k, std::size_t i) {
  Selected its{};
  std::memcpy(&its.place, in + i * sizeof its.place, sizeof its.place);
  std::memcpy(&its.value, in + k * sizeof its.place + i * sizeof its.value, sizeof its.value);
  return its;
}

}  // namespace tutti
