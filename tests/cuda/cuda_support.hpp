#pragma once
// Device memory for tests of lib/device/driver, over the fake driver or on a GPU.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/device.hpp"
#include "lib/device/driver/driver.hpp"
#include "tests/fake_cuda/fake_cuda.h"

namespace tutti::cuda {

/// A function that the library's table does not have.
template <class Function>
Function* of_driver(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), name));
}

/// Copies between any two kinds of memory; over when it returns.
inline void copy_now(std::byte* to, const std::byte* from, std::size_t bytes) {
  check(of_driver<decltype(cuMemcpy)>("cuMemcpy")(std::bit_cast<CUdeviceptr>(to), std::bit_cast<CUdeviceptr>(from),
                                                  bytes),
        "cuMemcpy");
  check(of_driver<decltype(cuStreamSynchronize)>("cuStreamSynchronize")(nullptr), "cuStreamSynchronize");
}

/// Counters of the fake driver; zeros on another one.
inline FakeCudaCounters fake_counters() {
  FakeCudaCounters counters{};
  if (auto* const read = of_driver<decltype(fake_cuda_counters)>("fake_cuda_counters")) read(&counters);
  return counters;
}

/// The primary context of device 0 is current, and has a Device.
class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (driver() == nullptr) GTEST_SKIP() << why_no_driver();
    CUcontext context = nullptr;
    check(of_driver<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, 0), "retain");
    check(of_driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    device_.emplace(context);
  }
  std::optional<Device> device_;
};

}  // namespace tutti::cuda
