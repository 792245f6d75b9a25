#pragma once
// Memory on a GPU that the peers of a node keep mapped.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>

#include "tutti/device_span.hpp"
#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// Memory of `bytes` bytes on the CUDA device whose context is current in this thread, of undefined contents. Any
/// memory of a device serves in collectives. This differs in its end: peers that have mapped it close their mappings
/// before it is freed, as CUDA demands. It is aligned as memory of cuMemAlloc is. 0 bytes give memory as well.
///
/// Local. Errors: StateError before MPI_Init and after MPI_Finalize; Error if no context is current, as before the
/// first use of a device, if the device has not as much memory, or if the library was built without CUDA.
[[nodiscard]] TUTTI_API void* allocate_device(Bytes bytes);
/// Frees memory that allocate_device() returned, when no operation uses it any more; nullptr does nothing. Returns at
/// once: the device gets the memory back when the last peer has closed its mapping, which peers do in their next calls.
/// After MPI_Finalize, and in a child of a fork(), it does
/// nothing: the driver frees all when the process ends.
/// Errors: ArgumentError if the memory is not from allocate_device().
TUTTI_API void deallocate_device(void* data);

namespace detail {
/// deallocate_device(); in a thread that may not call, the memory stays until the process ends.
TUTTI_API void free_device_buffer(void* data) noexcept;
}  // namespace detail

/// An array of `T` in such memory. Collectives take it as a DeviceSpan.
template <class T>
class DeviceBuffer {
  static_assert(Element<T>);

 public:
  DeviceBuffer() = default;
  /// Errors: those of allocate_device().
  explicit DeviceBuffer(std::size_t size) : data_(static_cast<T*>(allocate_device(bytes_of(size)))), size_(size) {}
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::move(other.data_)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }
  ~DeviceBuffer() = default;

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] DeviceSpan<T> span() const { return {data(), size_}; }

 private:
  /// The product, or the largest number of bytes where the product is too large: allocating then fails.
  static Bytes bytes_of(std::size_t size) {
    constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    return Bytes{static_cast<std::int64_t>(size > most / sizeof(T) ? most : size * sizeof(T))};
  }
  struct Free {
    void operator()(T* data) const { detail::free_device_buffer(data); }
  };
  std::unique_ptr<T[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace tutti
