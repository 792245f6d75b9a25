#pragma once
// Instructions on bits and bytes of words.

#include <algorithm>
#include <cstdint>

#include "tests/fake_cuda/ptx/format.hpp"

namespace fake_cuda::ptx {

/// prmt: four bytes of a pool of eight.
inline std::uint64_t permuted(std::uint64_t pool, std::uint64_t select) {
  std::uint64_t result = 0;
  for (int n = 0; n < 4; ++n) {
    const std::uint64_t which = select >> (4 * n) & 15;
    std::uint64_t byte = pool >> (8 * (which & 7)) & 255;
    if ((which & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
    result |= byte << (8 * n);
  }
  return result;
}

/// lop3: any function of three bits, by its table.
inline std::uint64_t looked_up(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t table) {
  std::uint64_t result = 0;
  for (unsigned n = 0; n < 8; ++n)
    if ((table >> n & 1) != 0) result |= ((n & 4) != 0 ? a : ~a) & ((n & 2) != 0 ? b : ~b) & ((n & 1) != 0 ? c : ~c);
  return low(result, 32);
}

/// bfi: `length` bits of `field` at `position` of `base`.
inline std::uint64_t inserted(int bits, std::uint64_t field, std::uint64_t base, std::uint64_t position,
                              std::uint64_t length) {
  const int at = static_cast<int>(position & 255), count = std::min(static_cast<int>(length & 255), bits);
  const std::uint64_t whole = low(base, bits);
  if (count == 0 || at >= bits) return whole;
  const std::uint64_t mask = low(low(~std::uint64_t{0}, count) << at, bits);
  return (whole & ~mask) | ((field << at) & mask);
}

}  // namespace fake_cuda::ptx
