#pragma once
// A device with the kernels of a training, streams, and memory. Calls go to the driver, which is found when the
// program runs (lib/device/driver).

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/context.hpp"
#include "lib/device/driver/driver.hpp"

namespace tutti::sgd {

/// The kernels of device_kernels.cu as nvcc built them: a fatbin in the program.
[[nodiscard]] const void* device_image();

/// A mark in a stream, in the current context.
class GpuEvent {
 public:
  GpuEvent();
  GpuEvent(GpuEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  GpuEvent& operator=(GpuEvent&&) = delete;
  ~GpuEvent();
  [[nodiscard]] CUevent get() const { return event_; }

 private:
  CUevent event_ = nullptr;
};

/// A stream of the current context that waits for no other. All functions throw Error if the driver refuses.
class GpuStream {
 public:
  GpuStream();
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  /// When all that is in it is over.
  ~GpuStream();
  [[nodiscard]] CUstream get() const { return stream_; }
  /// Marks all that was queued so far.
  void record(const GpuEvent& event) const;
  /// What is queued from now on comes after the last mark of the event.
  void wait_for(const GpuEvent& event) const;
  /// Returns when all that was queued is done.
  void wait() const;

 private:
  CUstream stream_ = nullptr;
};

/// Everything it does is done in order. Its context is current in the thread that made it for as long as it lives; all
/// calls, and all uses of its memory, come from that thread. All functions throw Error if the driver refuses.
class Gpu {
 public:
  /// The number of devices, at least 1. Throws Error if there is no driver.
  static int count();

  /// Makes the primary context of a device current in this thread.
  static void use(int ordinal);

  /// Loads the kernels of type `type` ("float", "double"), ahead of any use: loading may wait for the device.
  Gpu(int ordinal, const std::string& type);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  /// Queues the kernel of these arguments, with one thread for each of so many elements.
  template <class Arguments>
  void launch(std::uint64_t elements, Arguments arguments) const {
    if (elements > 0) launch(functions_.at(Arguments::name), elements, &arguments);
  }
  /// Queues a copy between host and device, or on the device. Memory of the host must last until wait().
  void copy(const void* from, void* to, std::size_t bytes) const;
  /// The functions of its stream.
  void record(const GpuEvent& event) const { stream_->record(event); }
  void wait_for(const GpuEvent& event) const { stream_->wait_for(event); }
  void wait() const { stream_->wait(); }

 private:
  void load(const std::string& type);
  void launch(CUfunction function, std::uint64_t elements, void* arguments) const;
  void release() noexcept;

  cuda::ScopedContext scope_;
  CUmodule module_ = nullptr;
  std::optional<GpuStream> stream_;
  std::map<std::string, CUfunction> functions_;  ///< By the names of arguments.
};

/// An array of elements on the device.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    CUdeviceptr address = 0;
    if (size > 0) cuda::check(cuda::driver()->MemAlloc(&address, size * sizeof(T)), "cuMemAlloc");
    data_ = reinterpret_cast<T*>(address);
  }
  /// A copy. Waits for it.
  DeviceArray(const Gpu& gpu, std::span<const T> values) : DeviceArray(values.size()) { put(gpu, values); }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() {
    if (data_ != nullptr) static_cast<void>(cuda::driver()->MemFree(reinterpret_cast<CUdeviceptr>(data_)));
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // Both wait for all that was queued.
  void put(const Gpu& gpu, std::span<const T> values) const {
    gpu.copy(values.data(), data_, values.size_bytes());
    gpu.wait();
  }
  void get(const Gpu& gpu, std::span<T> values) const {
    gpu.copy(data_, values.data(), values.size_bytes());
    gpu.wait();
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

}  // namespace tutti::sgd
