#pragma once
// A copy by streaming stores: to memory, past all caches.

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tutti::shm {

#if defined(__x86_64__)
inline constexpr bool has_streaming_stores = true;

/// into[i] = from[i] for i < bytes, at any alignment; they do not overlap. A thread that acquires a flag which is
/// released afterwards sees the bytes.
inline void copy_streaming(std::byte* into, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t line = 64;
  const std::size_t head = -reinterpret_cast<std::uintptr_t>(into) % line;
  if (bytes < head + line) {
    std::memcpy(into, from, bytes);
    return;
  }
  std::memcpy(into, from, head);
  std::size_t done = head;
  for (; done + line <= bytes; done += line)
    for (std::size_t at = done; at < done + line; at += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(into + at),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
  std::memcpy(into + done, from + done, bytes - done);
  _mm_sfence();
}
#else
inline constexpr bool has_streaming_stores = false;

inline void copy_streaming(std::byte* into, const std::byte* from, std::size_t bytes) {
  std::memcpy(into, from, bytes);
}
#endif

}  // namespace tutti::shm
