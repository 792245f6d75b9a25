#pragma once
// Buffers on a GPU.

#include <cstddef>
#include <type_traits>

#include "tutti/datatype.hpp"
#include "tutti/export.hpp"

namespace tutti {

namespace detail {
/// Throws ArgumentError unless a GPU reads and writes the memory: device memory of CUDA, or managed memory.
TUTTI_API void require_device_span(const void* data, std::size_t size);
}  // namespace detail

/// `size` elements of `T` in memory of a GPU: of cudaMalloc, cudaMallocAsync, cuMemMap and the like, or managed memory.
/// A view: it owns nothing, and the host cannot read it. Collectives and messages take it as any other buffer, on any
/// rank, beside buffers of the host. A plain pointer to such memory works as well: a DeviceSpan says what the program
/// means, and says no to other memory.
///
/// Streams: a call reads and writes the memory from the moment it is made until it is over, on streams of its own. The
/// data must be there when it is made: wait for the stream that computes them (cudaStreamSynchronize) before. When the
/// call is over, so is all work on the memory, and any stream may use it.
///
/// Errors  ArgumentError that names the rank of MPI_COMM_WORLD: memory of the host, pinned memory included, or memory
/// that
///         CUDA does not know; null is allowed if `size` is 0.
template <class T>
class DeviceSpan {
  static_assert(Element<std::remove_const_t<T>>);

 public:
  DeviceSpan() = default;
  DeviceSpan(T* data, std::size_t size) : data_(data), size_(size) { detail::require_device_span(data, size); }
  /// Read-only.
  operator DeviceSpan<const T>() const requires(!std::is_const_v<T>) {  // NOLINT: as std::span converts
    return DeviceSpan<const T>{data_, size_};
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tutti
