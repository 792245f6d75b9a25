#pragma once
// The k elements of the largest magnitudes: their places, 4 bytes each, in order, then their values.

#include <cstddef>
#include <cstdint>
#include <span>

namespace tutti {

/// values[i] of the k largest magnitudes goes to `out`; of equal ones, those of the lower places. NaN is the largest.
void select_top(std::span<const float> values, std::size_t k, std::byte* out);
/// The place and the value of the i-th that was selected.
struct Selected {
  std::uint32_t place;
  float value;
};
[[nodiscard]] Selected selected(const std::byte* in, std::size_t k, std::size_t i);

}  // namespace tutti
