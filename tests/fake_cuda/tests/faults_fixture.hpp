#pragma once
// For tests that plant a fault: races are looked for, and a kernel of one thread is at hand.

#include <cstdlib>
#include <string>

#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {

class Faults : public Cuda {
 protected:
  void SetUp() override {
    if (!is_fake()) GTEST_SKIP() << "only the fake driver catches faults";
    ::setenv("FAKE_CUDA_RACE", "1", 1);  // which the driver has not read yet, in a process of this test alone
    Cuda::SetUp();
  }
  /// A kernel of one thread, whose parameter is an address.
  void run(const std::string& body, CUdeviceptr at) {
    const std::string text = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 at) {
  .reg .b64 %rd<4>;
  .reg .b32 %r<8>;
  .reg .f32 %f<8>;
  ld.param.u64 %rd1, [at];
)" + body + "\n  ret;\n}\n";
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    void* arguments[] = {&at};
    EXPECT_CUDA(cuModuleLoadData(&module, text.c_str()));
    found_ = cuModuleGetFunction(&function, module, "kernel");
    if (found_ == CUDA_SUCCESS) {
      EXPECT_CUDA(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    }
    result_ = cuCtxSynchronize();
  }
  static constexpr const char* store = "  mov.u32 %r1, 5;\n  st.global.u32 [%rd1], %r1;";
  CUresult found_ = CUDA_SUCCESS, result_ = CUDA_SUCCESS;
};

}  // namespace fake_cuda
