// Calls that a driver may make wait for the device, beside an operation that waits for the host.
#include <chrono>
#include <thread>
#include <vector>

#include "tests/fake_cuda/tests/faults_fixture.hpp"

namespace fake_cuda {
namespace {

constexpr const char* fault = "synchronises-while-waiting";

class BesideAWait : public Faults {
 protected:
  void SetUp() override {
    Faults::SetUp();
    if (IsSkipped()) return;
    flag_ = pinned<int>(1);
    *flag_ = 0;
    one_ = stream();
    module_ = module_of(store);
    memory_ = allocated(64);
  }
  void TearDown() override {
    if (flag_ != nullptr) *flag_ = 1;
    Faults::TearDown();
  }
  /// Until end_wait().
  void begin_wait() {
    EXPECT_CUDA(cuStreamWaitValue32(stream(), reinterpret_cast<CUdeviceptr>(flag_), 1, CU_STREAM_WAIT_VALUE_EQ));
  }
  void end_wait() { *flag_ = 1; }
  /// A host function of a new stream.
  template <class Function>
  void call(Function function) {
    EXPECT_CUDA(cuLaunchHostFunc(stream(), function, const_cast<int*>(flag_)));
    std::this_thread::sleep_for(std::chrono::milliseconds{20});  // it has begun
  }
  volatile int* flag_ = nullptr;
  CUstream one_ = nullptr;
  CUmodule module_ = nullptr;
  CUdeviceptr memory_ = 0;
};

TEST_F(BesideAWait, AllocationsAreFaults) {
  std::vector<char> host(100);
  CUdeviceptr pitched = 0, managed = 0;
  std::size_t pitch = 0;
  begin_wait();
  allocated(64);
  EXPECT_EQ(caught(fault), 1U);
  EXPECT_CUDA(cuMemAllocPitch(&pitched, &pitch, 10, 10, 4));
  EXPECT_EQ(caught(fault), 2U);
  EXPECT_CUDA(cuMemAllocManaged(&managed, 100, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(caught(fault), 3U);
  pinned<int>(1);
  EXPECT_EQ(caught(fault), 4U);
  EXPECT_CUDA(cuMemHostRegister(host.data(), host.size(), 0));
  EXPECT_EQ(caught(fault), 5U);
  end_wait();
  EXPECT_CUDA(cuMemHostUnregister(host.data()));
}

TEST_F(BesideAWait, NewStreamsAndModulesAreFaults) {
  begin_wait();
  stream();
  EXPECT_EQ(caught(fault), 1U);
  module_of(store);
  EXPECT_EQ(caught(fault), 2U);
}

TEST_F(BesideAWait, UnregistrationIsAFault) {
  std::vector<char> host(100);
  EXPECT_CUDA(cuMemHostRegister(host.data(), host.size(), 0));
  begin_wait();
  std::thread later{[&] {
    while (caught(fault) == 0)
      std::this_thread::yield();
    end_wait();
  }};
  EXPECT_CUDA(cuMemHostUnregister(host.data()));
  later.join();
  EXPECT_EQ(caught(fault), 1U);
}

TEST_F(BesideAWait, TheFirstLaunchIsAFaultUnlessTheFunctionIsLoaded) {
  const CUfunction lazy = function_of(module_), loaded = function_of(module_of(store));
  EXPECT_CUDA(cuFuncLoad(loaded));
  begin_wait();
  EXPECT_CUDA(launch(loaded, memory_, one_));
  EXPECT_EQ(caught(fault), 0U);
  EXPECT_CUDA(launch(lazy, memory_, one_));
  EXPECT_EQ(caught(fault), 1U);
  EXPECT_CUDA(launch(lazy, memory_, one_));
  EXPECT_EQ(caught(fault), 1U);
  EXPECT_CUDA(cuFuncLoad(function_of(module_of(store))));
  EXPECT_EQ(caught(fault), 3U) << "a module, and its function";
}

TEST_F(BesideAWait, OrdinaryWorkIsNoFault) {
  CUdeviceptr pooled = 0;
  int* const host = pinned<int>(1);
  begin_wait();
  const CUevent done = event();
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, memory_, sizeof(int), one_));
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
  EXPECT_CUDA(cuEventRecord(done, one_));
  EXPECT_CUDA(cuMemAllocAsync(&pooled, 64, one_));
  EXPECT_CUDA(cuMemFreeAsync(pooled, one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_CUDA(cuEventDestroy(done));
  EXPECT_CUDA(cuStreamDestroy(one_));
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(BesideAWait, AHostFunctionMayWait) {
  call([](void* flag) {
    while (*static_cast<volatile int*>(flag) == 0)
      std::this_thread::yield();
  });
  allocated(64);
  EXPECT_EQ(caught(fault), 1U);
}

TEST_F(BesideAWait, AHostFunctionThatEndsIsNoWait) {
  call([](void*) { std::this_thread::sleep_for(std::chrono::milliseconds{50}); });
  allocated(64);
  EXPECT_EQ(caught(fault), 0U);
}

class BesideLateWork : public BesideAWait {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_DELAY_US", "50000", 1);
    BesideAWait::SetUp();
  }
};

TEST_F(BesideLateWork, AllocationsAreNoFaults) {
  const CUfunction function = function_of(module_);
  for (int i = 0; i < 5; ++i)
    EXPECT_CUDA(launch(function, memory_, one_));
  allocated(64);
  pinned<int>(1);
  EXPECT_CUDA_ERROR(cuStreamQuery(one_), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(caught(nullptr), 0U);
}

}  // namespace
}  // namespace fake_cuda
