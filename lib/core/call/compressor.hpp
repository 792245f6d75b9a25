#pragma once
// Compression of floats in memory of the host, or of a device, alike for its user.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/core/call/arguments.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/device/call/compression.hpp"
#include "lib/device/staging/device_port.hpp"
#include "tutti/compression.hpp"
#include "tutti/device_memory.hpp"

namespace tutti::detail {

/// Elements of the host, or of the device whose context was current, of undefined contents there.
template <class T>
class Elements {
 public:
  Elements() = default;
  Elements(std::size_t size, bool is_on_device) : size_(size) {
    if (is_on_device)
      on_device_ = DeviceBuffer<T>{size};
    else
      on_host_.resize(size);
  }
  [[nodiscard]] T* data() { return on_device_.data() == nullptr ? on_host_.data() : on_device_.data(); }
  [[nodiscard]] const T* data() const { return on_device_.data() == nullptr ? on_host_.data() : on_device_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
  std::vector<T> on_host_;
  DeviceBuffer<T> on_device_;
};

/// One format and its options. On a device, work is in the order of a stream.
class Compressor {
 public:
  Compressor(Compression compression, const CompressionOptions& options, bool is_on_device)
      : compression_(compression), options_(options), is_on_device_(is_on_device) {}

  [[nodiscard]] bool is_top() const { return compression_ == Compression::top_k; }
  [[nodiscard]] bool is_on_device() const { return is_on_device_; }
  [[nodiscard]] std::size_t bytes_of(std::size_t count) const {
    return static_cast<std::size_t>(compressed_size(compression_, Count{count}, options_).value());
  }

  /// All become 0.
  void clear(Elements<float>& values) const {
    if (values.size() == 0) return;
    if (!is_on_device_) return static_cast<void>(std::fill_n(values.data(), values.size(), 0.0F));
    const std::vector<float> zeros(values.size());
    const device::PieceCopy copy{reinterpret_cast<std::byte*>(values.data()),
                                 reinterpret_cast<const std::byte*>(zeros.data()),
                                 static_cast<std::int64_t>(zeros.size() * sizeof(float))};
    device::copy_pieces(device_of(values.data()), {&copy, 1});
  }
  /// Calls what(stream), for functions below on the device of `data`, and returns when that is over.
  template <class What>
  void work(const void* data, const What& what) const {
    const int device = is_on_device_ ? device_of(data) : -1;
    if (device < 0) return what(nullptr);
    CUstream_st* const stream = [device] {
      const Progress::Entry entry{Runtime::get().progress()};
      return device::work_stream(device);
    }();
    what(stream);
    device::wait_for(device, stream);
  }
  void pack(const float* values, std::size_t count, float* error, std::uint8_t* out, CUstream_st* stream) const {
    const std::size_t bytes = bytes_of(count);
    if (is_on_device_)
      compress(compression_, DeviceSpan{values, count}, DeviceSpan{error, count}, DeviceSpan{out, bytes}, options_,
               stream);
    else
      compress(compression_, std::span{values, count}, std::span{error, count},
               std::as_writable_bytes(std::span{out, bytes}), options_);
  }
  void unpack(const std::uint8_t* in, float* values, std::size_t count, bool adds, CUstream_st* stream) const {
    const auto call = [&](auto packed, auto out, auto... more) {
      if (adds)
        decompress_add(compression_, packed, out, options_, more...);
      else
        decompress(compression_, packed, out, options_, more...);
    };
    if (is_on_device_)
      call(DeviceSpan{in, bytes_of(count)}, DeviceSpan{values, count}, std::optional{stream});
    else
      call(std::as_bytes(std::span{in, bytes_of(count)}), std::span{values, count});
  }
  void scale(float* values, std::size_t count, float factor, CUstream_st* stream) const {
    if (factor == 1 || count == 0) return;
    if (is_on_device_) return device::scale(device_of(values), values, Count{count}, factor, stream);
    for (float& value : std::span{values, count})
      value *= factor;
  }

 private:
  /// The number of the device that holds the memory.
  static int device_of(const void* data) {
    return require_buffer({"CompressedAllreduce", Rank{0}}, "gradient", data, {Count{0}, Count{1}}, Type::uint8).device;
  }

  Compression compression_;
  CompressionOptions options_;
  bool is_on_device_;
};

}  // namespace tutti::detail
