// Calls that fail because FAKE_CUDA_FAIL says so, and the counters.
#include <chrono>
#include <cstdlib>

#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

class Failures : public Cuda {
 protected:
  /// Before the driver reads it: in a process of this test alone.
  void SetUp() override {
    if (!is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
    ::setenv("FAKE_CUDA_FAIL", "cuMemAlloc:2:2,cuStreamCreate:1", 1);
    Cuda::SetUp();
  }
};

TEST_F(Failures, ComeAtTheCallThatWasNamed) {
  CUdeviceptr memory = 0;
  CUstream one = nullptr;
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  EXPECT_CUDA_ERROR(cuMemAlloc(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  EXPECT_CUDA_ERROR(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING), CUDA_ERROR_UNKNOWN);
  EXPECT_CUDA(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(calls("cuMemAlloc"), 3U);
}

TEST_F(Failures, LeaveNothingBehind) {
  CUstream one = nullptr;
  EXPECT_CUDA_ERROR(cuStreamCreate(&one, 0), CUDA_ERROR_UNKNOWN);
  EXPECT_EQ(counters().live_streams, 0U);
}

TEST_F(Failures, ComeWhenATestAsksForThem) {
  CUdeviceptr memory = 0;
  auto* const fail = of_fake<decltype(fake_cuda_fail)>("fake_cuda_fail");
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  fail("cuMemAlloc:2:2");
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  EXPECT_CUDA_ERROR(cuMemAlloc(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  fail("cuMemAlloc:2+:2");
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  EXPECT_CUDA_ERROR(cuMemAlloc(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA_ERROR(cuMemAlloc(&memory, 64), CUDA_ERROR_OUT_OF_MEMORY);
  fail("");
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
}

TEST(Start, TakesAsLongAsItIsTold) {
  if (!is_fake()) GTEST_SKIP() << "only the fake driver starts late when it is told to";
  ::setenv("FAKE_CUDA_START_MS", "20", 1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_CUDA(cuInit(0));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds{20});  // no load makes it shorter
}

using Counters = Cuda;

TEST_F(Counters, CountBytesCallsAndLiveObjects) {
  if (!is_fake()) GTEST_SKIP() << "only the fake driver counts";
  const FakeCudaCounters before = counters();
  const CUdeviceptr a = allocated(1000), b = allocated(1000);
  int* const host = pinned<int>(100);
  const CUstream one = stream();
  const CUevent done = event();
  EXPECT_CUDA(cuMemcpyHtoDAsync(a, host, 400, one));
  EXPECT_CUDA(cuMemcpyDtoDAsync(b, a, 300, one));
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, b, 200, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  const FakeCudaCounters after = counters();
  EXPECT_EQ(after.bytes_to_device - before.bytes_to_device, 400U);
  EXPECT_EQ(after.bytes_within_devices - before.bytes_within_devices, 300U);
  EXPECT_EQ(after.bytes_to_host - before.bytes_to_host, 200U);
  EXPECT_EQ(after.copies - before.copies, 3U);
  EXPECT_EQ(after.synchronisations - before.synchronisations, 1U);
  EXPECT_EQ(after.calls - before.calls, 2 + 1 + 1 + 1 + 3 + 1U);
  EXPECT_EQ(after.live_device - before.live_device, 2U);
  EXPECT_EQ(after.live_pinned - before.live_pinned, 1U);
  EXPECT_EQ(after.live_streams - before.live_streams, 1U);
  EXPECT_EQ(after.live_events - before.live_events, 1U);
  EXPECT_CUDA(cuMemFree(a));
  EXPECT_CUDA(cuMemFree(b));
  EXPECT_CUDA(cuMemFreeHost(host));
  EXPECT_CUDA(cuStreamDestroy(one));
  EXPECT_CUDA(cuEventDestroy(done));
  EXPECT_EQ(counters().live_device, before.live_device);
  EXPECT_EQ(counters().live_pinned, before.live_pinned);
  EXPECT_EQ(counters().live_streams, before.live_streams);
  EXPECT_EQ(counters().live_events, before.live_events);
}

TEST_F(Counters, CountTheBytesOfKernels) {
  if (!is_fake()) GTEST_SKIP() << "only the fake driver counts";
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_CUDA(cuModuleLoadData(&module, R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 at) {
  .reg .b64 %rd<4>; .reg .b32 %r<4>;
  ld.param.u64 %rd1, [at];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.s32 %r3, %r2, %r2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)"));
  EXPECT_CUDA(cuModuleGetFunction(&function, module, "twice"));
  CUdeviceptr memory = allocated(256);
  EXPECT_CUDA(cuMemsetD32(memory, 21, 64));
  void* arguments[] = {&memory};
  const FakeCudaCounters before = counters();
  EXPECT_CUDA(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(first_word(memory + 252), 42);
  const FakeCudaCounters after = counters();
  EXPECT_EQ(after.kernels - before.kernels, 1U);
  EXPECT_EQ(after.bytes_read - before.bytes_read, 256U);
  EXPECT_EQ(after.bytes_written - before.bytes_written, 256U);
  EXPECT_EQ(after.live_modules, 1U);
  EXPECT_CUDA(cuModuleUnload(module));
  EXPECT_EQ(counters().live_modules, 0U);
}

}  // namespace
}  // namespace fake_cuda
