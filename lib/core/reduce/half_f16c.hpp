#pragma once
// fp16 by the F16C instructions of x86, 16 lanes by AVX-512. Gives the bits of convert.hpp.

#include <immintrin.h>

#include <cstdint>

#include "lib/core/reduce/lanes.hpp"

namespace tutti {
namespace {

// The masks select every lane: with the forms without one, GCC 12 warns about its own headers.
struct F16cHalf {
  template <class V>
  static Retyped<float, V> widen(V halves) {
    using Floats = Retyped<float, V>;
    if constexpr (lane_count<V> == 16) {
      return cast<Floats>(_mm512_maskz_cvtph_ps(0xffff, cast<__m256i>(halves)));
    } else if constexpr (lane_count<V> == 8) {
      return cast<Floats>(_mm256_cvtph_ps(cast<__m128i>(halves)));
    } else if constexpr (lane_count<V> == 4) {
      return cast<Floats>(_mm_cvtph_ps(_mm_cvtsi64_si128(cast<std::int64_t>(halves))));
    } else {
      return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(halves)));
    }
  }

  template <class Floats>
  static Retyped<std::uint16_t, Floats> narrow(Floats values) {
    using V = Retyped<std::uint16_t, Floats>;
    if constexpr (lane_count<V> == 16) {
      return cast<V>(_mm512_maskz_cvtps_ph(0xffff, cast<__m512>(values), _MM_FROUND_TO_NEAREST_INT));
    } else if constexpr (lane_count<V> == 8) {
      return cast<V>(_mm256_cvtps_ph(cast<__m256>(values), _MM_FROUND_TO_NEAREST_INT));
    } else if constexpr (lane_count<V> == 4) {
      return cast<V>(_mm_cvtsi128_si64(_mm_cvtps_ph(cast<__m128>(values), _MM_FROUND_TO_NEAREST_INT)));
    } else {
      return static_cast<V>(_mm_cvtsi128_si32(_mm_cvtps_ph(_mm_set_ss(values), _MM_FROUND_TO_NEAREST_INT)));
    }
  }
};

}  // namespace
}  // namespace tutti
