#pragma once
// A GPU by CUDA's driver, which is found when the program runs (lib/device/driver).

#include <cuda.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "apps/sgd/cublas.hpp"
#include "apps/sgd/device.hpp"
#include "lib/device/driver/context.hpp"

namespace tutti::sgd {

/// The kernels of device_kernels.cu as nvcc built them: a fatbin in the program.
[[nodiscard]] const void* device_image();

/// A stream of the current context that waits for no other, and a mark in it.
class GpuStream {
 public:
  GpuStream();
  GpuStream(const GpuStream&) = delete;
  GpuStream& operator=(const GpuStream&) = delete;
  /// When all that is in it is over.
  ~GpuStream();
  [[nodiscard]] CUstream get() const { return stream_; }
  /// What is queued from now on comes after all that is in the other stream now.
  void wait_for(const GpuStream& other) const;
  /// Returns when all that was queued is done.
  void wait() const;

 private:
  CUstream stream_ = nullptr;
  CUevent mark_ = nullptr;
};

class Gpu final : public Device {
 public:
  explicit Gpu(int ordinal);
  ~Gpu() override;

  [[nodiscard]] void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  void copy(const void* from, void* to, std::size_t bytes) override;
  void launch(const char* task, const char* type, std::uint64_t elements, const void* arguments) override;
  [[nodiscard]] std::string open_library() override { return cublas_.open(stream_->get()); }
  void multiply(const Product<float>& product) override { cublas_.multiply(product); }
  void multiply(const Product<double>& product) override { cublas_.multiply(product); }
  void wait() override { stream_->wait(); }
  [[nodiscard]] CUstream_st* second_stream() override { return second_->get(); }
  void second_waits() override { second_->wait_for(*stream_); }
  void tasks_wait() override { stream_->wait_for(*second_); }

 private:
  void load();
  void close() noexcept;

  cuda::ScopedContext scope_;
  CUmodule module_ = nullptr;
  std::optional<GpuStream> stream_, second_;
  std::map<std::pair<std::string_view, std::string_view>, CUfunction> functions_;  ///< By task and type.
  Cublas cublas_;
};

}  // namespace tutti::sgd
