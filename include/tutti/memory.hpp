#pragma once
// Tutti memory: buffers that the other ranks of the node read and write in place.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Memory of `bytes` bytes that collectives use without copying through shared memory: peers of the node read inputs
/// where they are, and write results where they belong. Nothing else about a call changes, and its result is the same
/// to the last bit; buffers of other kinds may be mixed with it, on any rank. To the program it is ordinary memory: it
/// begins at a page and holds zeros. It is taken from the node's shared memory at once, in whole pages (/dev/shm is not
/// involved; a container's limits for memory are).
///
/// Local. A Communicator over MPI_COMM_WORLD must have been made before, as that finds the node's ranks; only
/// communicators made after that one know the memory. On a node whose ranks share no memory (see
/// Communicator::message_counters()), it is ordinary memory. Valid until deallocate(), also beyond MPI_Finalize.
/// A child of a fork() has no copy of it but shares it with its parent: it must not write to it, and sees the changes
/// that the parent and its peers make meanwhile. It cannot free it either: see deallocate().
/// Errors: StateError if there has been no communicator over MPI_COMM_WORLD; ArgumentError if `bytes` is negative;
/// Error if there is not enough memory.
[[nodiscard]] TUTTI_API void* allocate(Bytes bytes);
/// Frees memory that allocate() returned, when no operation uses it any more; nullptr does nothing. In a child of a
/// fork() it does nothing, as the memory is the parent's.
/// Errors: ArgumentError if the memory is not from allocate().
TUTTI_API void deallocate(void* data);

/// An array of `T` in Tutti memory, all bytes zero. Collectives take spans of it.
template <class T>
class SharedBuffer {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SharedBuffer() = default;
  /// Errors: those of allocate().
  explicit SharedBuffer(std::size_t size) : data_(static_cast<T*>(allocate(bytes_of(size)))), size_(size) {}
  SharedBuffer(SharedBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  SharedBuffer& operator=(SharedBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~SharedBuffer() = default;

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }
  [[nodiscard]] T* begin() const { return data(); }
  [[nodiscard]] T* end() const { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t i) const { return data()[i]; }

 private:
  /// The product, or the largest number of bytes where the product is too large: allocate() then fails.
  static Bytes bytes_of(std::size_t size) {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    return Bytes{static_cast<std::int64_t>(size > most / sizeof(T) ? most : size * sizeof(T))};
  }
  struct Free {
    void operator()(T* data) const { deallocate(data); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace tutti
