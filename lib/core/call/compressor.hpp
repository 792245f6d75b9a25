#pragma once
// Compression of floats in memory of the host, or of a device, alike for its user.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/call/arguments.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/device/call/compression.hpp"
#include "lib/device/staging/device_port.hpp"
#include "tutti/compression.hpp"
#include "tutti/device_memory.hpp"

namespace tutti::detail {

/// Memory of the host, or of the device whose context was current, that is cut into arrays. On devices an allocation
/// has a granule of its own (2 MiB), so there is one.
class CutMemory {
 public:
  explicit CutMemory(bool is_on_device) : is_on_device_(is_on_device) {}
  /// Where the next array will be; of its elements. All before allocate().
  std::size_t place(std::size_t bytes) {
    constexpr std::size_t line = 256;
    return std::exchange(bytes_, bytes_ + (bytes + line - 1) / line * line);
  }
  void allocate() {
    if (is_on_device_)
      on_device_ = DeviceBuffer<std::uint8_t>{bytes_};
    else
      on_host_.resize(bytes_);
  }
  template <class T>
  [[nodiscard]] std::span<T> array(std::size_t place, std::size_t size) {
    std::uint8_t* const data = is_on_device_ ? on_device_.data() : on_host_.data();
    return {reinterpret_cast<T*>(data + place), size};
  }

 private:
  bool is_on_device_;
  std::size_t bytes_ = 0;
  std::vector<std::uint8_t> on_host_;
  DeviceBuffer<std::uint8_t> on_device_;
};

/// One format and its options. On a device, work is in the order of a stream.
class Compressor {
 public:
  /// `site`: what errors name.
  Compressor(const CallSite& site, Compression compression, const CompressionOptions& options, bool is_on_device)
      : site_(site), compression_(compression), options_(options), is_on_device_(is_on_device) {}

  [[nodiscard]] bool is_top() const { return compression_ == Compression::top_k; }
  [[nodiscard]] bool is_on_device() const { return is_on_device_; }
  [[nodiscard]] std::size_t bytes_of(std::size_t count) const {
    return static_cast<std::size_t>(compressed_size(compression_, Count{count}, options_).value());
  }

  /// All become 0. StateError where calls are not allowed.
  void clear(std::span<float> values) const {
    const Progress::Entry entry{Runtime::get().progress()};
    if (values.empty()) return;
    if (!is_on_device_) return static_cast<void>(std::ranges::fill(values, 0.0F));
    const std::vector<float> zeros(values.size());
    const device::PieceCopy copy{reinterpret_cast<std::byte*>(values.data()),
                                 reinterpret_cast<const std::byte*>(zeros.data()),
                                 static_cast<std::int64_t>(zeros.size() * sizeof(float))};
    device::copy_pieces(device_of("memory", values.data()), {&copy, 1});
  }
  /// ArgumentError unless the gradient is where `own` is.
  void require_like(const void* own, std::span<const float> gradient) const {
    if (gradient.empty()) return;
    const auto refuse_it = [&](std::string_view given) {
      refuse(site_, "gradient", given,
             is_on_device_ ? "memory of the device of on_device(), as a DeviceSpan" : "memory of the host");
    };
    const Memory memory = allocation_at(site_, "gradient", gradient.data()).memory;
    if ((memory.kind == MemoryKind::device) != is_on_device_) refuse_it(to_string(memory));
    if (!is_on_device_) return;
    if (device_of("gradient", gradient.data()) != device_of("memory", own)) refuse_it("memory of another device");
    if (reinterpret_cast<std::uintptr_t>(gradient.data()) % alignof(float) != 0)
      refuse_it("at no address that 4 divides");
  }
  /// Calls what(stream), for functions below on the device of `data`, and returns when that is over.
  template <class What>
  void work(const void* data, const What& what) const {
    const int device = is_on_device_ ? device_of("memory", data) : -1;
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
    if (is_on_device_) return device::scale(device_of("memory", values), values, Count{count}, factor, stream);
    for (float& value : std::span{values, count})
      value *= factor;
  }

 private:
  /// The number of the device that holds the memory.
  [[nodiscard]] int device_of(std::string_view argument, const void* data) const {
    return require_buffer(site_, argument, data, {Count{0}, Count{1}}, Type::uint8).device;
  }

  CallSite site_;
  Compression compression_;
  CompressionOptions options_;
  bool is_on_device_;
};

}  // namespace tutti::detail
