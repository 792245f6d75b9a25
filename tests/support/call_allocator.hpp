#pragma once
// The kinds of memory that tests call collectives with.

#include <cstdint>
#include <memory>

#include "tutti/memory.hpp"

namespace tutti::test {

/// The memory of CallMemory on this rank: ordinary memory, or Tutti memory, which peers of the node read in place.
enum class MemoryKind : std::uint8_t { ordinary, tutti };
inline MemoryKind memory_kind = MemoryKind::ordinary;

template <class T>
struct CallAllocator {
  using value_type = T;
  MemoryKind kind = memory_kind;

  CallAllocator() = default;
  template <class U>
  CallAllocator(const CallAllocator<U>& other) : kind(other.kind) {}  // NOLINT(google-explicit-constructor)
  T* allocate(std::size_t n) {
    if (kind == MemoryKind::ordinary) return std::allocator<T>{}.allocate(n);
    return static_cast<T*>(tutti::allocate(Bytes{static_cast<std::int64_t>(n * sizeof(T))}));
  }
  void deallocate(T* data, std::size_t n) {
    if (kind == MemoryKind::ordinary) return std::allocator<T>{}.deallocate(data, n);
    tutti::deallocate(data);
  }
  bool operator==(const CallAllocator&) const = default;
};

}  // namespace tutti::test
