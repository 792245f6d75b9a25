#pragma once
// What the tests of compression share: numbers to compress, and how.

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "lib/core/reduce/low_precision_kernels.hpp"
#include "tutti/compression.hpp"
#include "tutti/error.hpp"

namespace tutti {
using Floats = std::vector<float>;
using Packed = std::vector<std::byte>;
inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr std::array all_formats{Compression::bf16,     Compression::fp16, Compression::fp8_e4m3,
                                        Compression::fp8_e5m2, Compression::int8, Compression::top_k};
inline bool has_blocks(Compression c) { return c >= Compression::fp8_e4m3 && c <= Compression::int8; }

/// Numbers of many magnitudes, around 2^exponent.
inline Floats numbers(std::size_t count, unsigned seed, int exponent = 0) {
  std::mt19937 random{seed};
  std::uniform_real_distribution<float> digits{-1, 1};
  Floats values(count);
  for (float& value : values)
    value = std::ldexp(digits(random), static_cast<int>(random() % 10) - 5 + exponent);
  return values;
}
inline Packed packed(Compression c, const Floats& in, Floats& error, const CompressionOptions& options = {}) {
  Packed out(static_cast<std::size_t>(compressed_size(c, Count{in.size()}, options).value()));
  compress(c, in, error, out, options);
  return out;
}
inline Packed packed(Compression c, const Floats& in, const CompressionOptions& options = {}) {
  Floats none;
  return packed(c, in, none, options);
}
inline Floats unpacked(Compression c, const Packed& in, std::size_t count, const CompressionOptions& options = {}) {
  Floats out(count, 77.0F);
  decompress(c, in, out, options);
  return out;
}
template <class T>
T at(const Packed& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

inline std::vector<std::size_t> sizes(std::size_t block) {
  return {0, 1, 5, block - 1, block, block + 1, 3 * block + 7, 10'000};
}

}  // namespace tutti
