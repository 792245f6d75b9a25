#pragma once
// x86's non-temporal stores: they write whole lines past the caches, without fetching them first.
// The namespace is unnamed for the reason given in convert.hpp.

#include <immintrin.h>

#include <cstddef>

#include "lib/reduce/elements.hpp"

namespace tutti {
namespace {

template <std::size_t register_bytes>
struct PastCaches {
  /// `to` has the alignment of the value's size.
  template <class V>
  static void store(std::byte* to, const V& value) {
    if constexpr (sizeof(V) == 64) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(to), cast<__m512i>(value));
    } else if constexpr (sizeof(V) == 32) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to), cast<__m256i>(value));
    } else {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to), cast<__m128i>(value));
    }
  }

  /// Else these stores could become visible after a flag that is set next.
  static void fence() { _mm_sfence(); }

  static void copy(void* into, const void* from, std::size_t bytes) {
    auto* to = static_cast<std::byte*>(into);
    const auto* source = static_cast<const std::byte*>(from);
    const std::size_t to_line = bytes_to_line(into);
    std::size_t done = to_line < bytes ? to_line : bytes;
    __builtin_memcpy(to, source, done);
    using Register = Lanes<std::uint64_t, register_bytes / 8>;
    for (; bytes - done >= line; done += line) {
      for (std::size_t part = 0; part < line; part += register_bytes)
        store(to + done + part, load<Register>(source + done + part));
    }
    __builtin_memcpy(to + done, source + done, bytes - done);
    fence();
  }
};

}  // namespace
}  // namespace tutti
