#pragma once
// A context of device 0 for a test, and the questions that only the fake driver answers.

#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/fake_cuda/fake_cuda.h"

namespace fake_cuda {

inline std::string name_of(CUresult error) {
  const char* name = nullptr;
  return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "error " + std::to_string(static_cast<int>(error));
}

#define EXPECT_CUDA(call) EXPECT_EQ(fake_cuda::name_of(call), "CUDA_SUCCESS")
#define EXPECT_CUDA_ERROR(call, error) EXPECT_EQ(fake_cuda::name_of(call), #error)

/// A function of fake_cuda.h; nullptr on NVIDIA's driver.
template <class Function>
Function* of_fake(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}
inline bool is_fake() { return of_fake<decltype(fake_cuda_counters)>("fake_cuda_counters") != nullptr; }
inline FakeCudaCounters counters() {
  FakeCudaCounters all{};
  if (is_fake()) of_fake<decltype(fake_cuda_counters)>("fake_cuda_counters")(&all);
  return all;
}
inline std::uint64_t caught(const char* name) {
  return is_fake() ? of_fake<decltype(fake_cuda_faults)>("fake_cuda_faults")(name) : 0;
}
inline std::uint64_t calls(const char* name) {
  return is_fake() ? of_fake<decltype(fake_cuda_calls)>("fake_cuda_calls")(name) : 0;
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(name_of(cuInit(0)), "CUDA_SUCCESS");
    ASSERT_EQ(name_of(cuDevicePrimaryCtxRetain(&context_, 0)), "CUDA_SUCCESS");
    ASSERT_EQ(name_of(cuCtxSetCurrent(context_)), "CUDA_SUCCESS");
  }
  /// The context goes, with all that it holds, unless a test has retained it as well.
  void TearDown() override {
    while (cuCtxPopCurrent(nullptr) == CUDA_SUCCESS) {
    }
    cuDevicePrimaryCtxRelease(0);
  }

  static CUdeviceptr allocated(std::size_t bytes) {
    CUdeviceptr pointer = 0;
    EXPECT_CUDA(cuMemAlloc(&pointer, bytes));
    return pointer;
  }
  template <class T>
  static T* pinned(std::size_t count) {
    void* pointer = nullptr;
    EXPECT_CUDA(cuMemHostAlloc(&pointer, count * sizeof(T), 0));
    return static_cast<T*>(pointer);
  }
  static CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_CUDA(cuStreamCreate(&made, flags));
    return made;
  }
  static CUevent event(unsigned flags = CU_EVENT_DISABLE_TIMING) {
    CUevent made = nullptr;
    EXPECT_CUDA(cuEventCreate(&made, flags));
    return made;
  }
  /// A kernel of one thread, whose parameter is an address; it is in %rd1.
  static std::string kernel_text(const std::string& body) {
    return R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 at) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  ld.param.u64 %rd1, [at];
)" + body + "\n  ret;\n}\n";
  }
  static CUmodule module_of(const std::string& body) {
    CUmodule module = nullptr;
    EXPECT_CUDA(cuModuleLoadData(&module, kernel_text(body).c_str()));
    return module;
  }
  static CUfunction function_of(CUmodule module) {
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleGetFunction(&function, module, "kernel"));
    return function;
  }
  static CUresult launch(CUfunction function, CUdeviceptr at, CUstream stream) {
    void* arguments[] = {&at};
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
  }
  static constexpr const char* store = "  mov.u32 %r1, 5;\n  st.global.u32 [%rd1], %r1;";
  static int first_word(CUdeviceptr pointer) {
    int word = 0;
    EXPECT_CUDA(cuMemcpyDtoH(&word, pointer, sizeof word));
    return word;
  }

  CUcontext context_ = nullptr;
};

}  // namespace fake_cuda
