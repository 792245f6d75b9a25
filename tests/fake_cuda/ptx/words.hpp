#pragma once
// Words in memory that other threads and processes may read and write at the same time.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fake_cuda::ptx {

inline std::uint64_t loaded(const std::byte* at, std::size_t bytes) {
  if (bytes == 4) return __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_ACQUIRE);
  if (bytes == 8) return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE);
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

inline void store(std::byte* at, std::size_t bytes, std::uint64_t value) {
  if (bytes == 4)
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(at), static_cast<std::uint32_t>(value), __ATOMIC_RELEASE);
  else if (bytes == 8)
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(at), value, __ATOMIC_RELEASE);
  else
    std::memcpy(at, &value, bytes);
}

}  // namespace fake_cuda::ptx
