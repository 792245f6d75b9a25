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
    CUfunction function = nullptr;
    found_ = cuModuleGetFunction(&function, module_of(body), "kernel");
    if (found_ == CUDA_SUCCESS) {
      EXPECT_CUDA(launch(function, at, nullptr));
    }
    result_ = cuCtxSynchronize();
  }
  CUresult found_ = CUDA_SUCCESS, result_ = CUDA_SUCCESS;
};

}  // namespace fake_cuda
