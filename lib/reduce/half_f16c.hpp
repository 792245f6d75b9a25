#pragma once
// fp16 by the F16C instructions of x86. Gives the bits of convert.hpp.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "lib/reduce/kernel_loops.hpp"

namespace tutti {
namespace {

struct F16cHalf {
  static void widen(const std::byte* __restrict from, float* __restrict to, std::size_t count) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 2 * i));
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(halves));
    }
    for (; i < count; ++i)
      to[i] = half_to_float(Elements<std::uint16_t>::load(from, i));
  }

  static void narrow(const float* __restrict from, std::byte* __restrict to, std::size_t count) {
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
      const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 2 * i), halves);
    }
    for (; i < count; ++i)
      Elements<std::uint16_t>::store(to, i, float_to_half(from[i]));
  }
};

}  // namespace
}  // namespace tutti
