#pragma once
// Streams, words that kernels write, and a wait that the host ends: for the order in which operations reach the device.

#include <array>
#include <chrono>
#include <thread>

#include "tests/fake_cuda/tests/graphs_fixture.hpp"

namespace fake_cuda {

class Queues : public Capturing<Cuda> {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    memory_ = allocated(64);
    EXPECT_CUDA(cuMemsetD32(memory_, 0, 16));
    EXPECT_CUDA(cuCtxSynchronize());
    released_ = flag();
    kernel_ = loaded(store);
    for (CUstream& each : streams_)
      each = stream();
  }
  void TearDown() override {
    if (released_ != nullptr) *released_ = 1;
    Cuda::TearDown();
  }
  /// Its first launch waits for nothing.
  static CUfunction loaded(const char* body) {
    const CUfunction function = function_of(module_of(body));
    EXPECT_CUDA(cuFuncLoad(function));
    return function;
  }
  /// Long enough for what nothing holds back.
  static void let_run() { std::this_thread::sleep_for(std::chrono::milliseconds{30}); }
  void release() { *released_ = 1; }
  [[nodiscard]] CUdeviceptr word(int number) const { return memory_ + sizeof(int) * static_cast<CUdeviceptr>(number); }
  void store_by_kernel(int number, CUstream stream) { EXPECT_CUDA(launch(kernel_, word(number), stream)); }
  static void expect_held_back(CUstream stream) { EXPECT_CUDA_ERROR(cuStreamQuery(stream), CUDA_ERROR_NOT_READY); }

  std::array<CUstream, 4> streams_{};
  CUdeviceptr memory_ = 0;
  CUfunction kernel_ = nullptr;
  volatile int* released_ = nullptr;
};

}  // namespace fake_cuda
