#include "lib/device/call/compression.hpp"

#include <bit>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/context.hpp"
#include "lib/device/driver/devices.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/relaxed_capture.hpp"

namespace tutti::device {
namespace {

using cuda::check;
using cuda::driver;

/// The memory of a selection, for work in one stream.
class SelectionMemory {
 public:
  explicit SelectionMemory(CUstream stream) : stream_(stream), is_pooled_(driver()->MemAllocAsync != nullptr) {
    if (is_pooled_)
      check(driver()->MemAllocAsync(&data_, sizeof(cuda::TopState), stream), "cuMemAllocAsync");
    else
      check(driver()->MemAlloc(&data_, sizeof(cuda::TopState)), "cuMemAlloc");
  }
  SelectionMemory(const SelectionMemory&) = delete;
  SelectionMemory& operator=(const SelectionMemory&) = delete;
  ~SelectionMemory() {
    if (is_pooled_) {
      static_cast<void>(driver()->MemFreeAsync(data_, stream_));
    } else {
      static_cast<void>(driver()->StreamSynchronize(stream_));
      static_cast<void>(driver()->MemFree(data_));
    }
  }
  [[nodiscard]] cuda::TopState* get() const { return std::bit_cast<cuda::TopState*>(data_); }

 private:
  CUstream stream_;
  bool is_pooled_;
  CUdeviceptr data_ = 0;
};

/// Calls queue(kernels) with the device's context.
template <class Queue>
void with_kernels(int device, const Queue& queue) {
  const cuda::Device& its = cuda::Devices::get().at(device);
  const cuda::RelaxedCapture relaxed;
  const cuda::ScopedContext scope{its.context()};
  queue(its.kernels());
}

}  // namespace

CUstream_st* work_stream(int device) { return cuda::Devices::get().at(device).next_stream(); }

void wait_for(int device, CUstream_st* stream) {
  with_kernels(device,
               [stream](const cuda::Kernels&) { check(driver()->StreamSynchronize(stream), "cuStreamSynchronize"); });
}

void compress(int device, Compression compression, Rounding rounding, const CompressArguments& call,
              CUstream_st* stream) {
  with_kernels(device, [&](const cuda::Kernels& kernels) {
    if (compression != Compression::top_k) return kernels.compression().compress(compression, rounding, call, stream);
    const SelectionMemory memory{stream};
    kernels.compression().compress_top(call, memory.get(), stream);
  });
}

void decompress(int device, Compression compression, bool adds, const DecompressArguments& call, CUstream_st* stream) {
  with_kernels(
      device, [&](const cuda::Kernels& kernels) { kernels.compression().decompress(compression, adds, call, stream); });
}

void scale(int device, float* data, Count count, float factor, CUstream_st* stream) {
  with_kernels(device, [&](const cuda::Kernels& kernels) {
    kernels.scale(Type::fp32, cuda::address(data), count, factor, stream);
  });
}

}  // namespace tutti::device
