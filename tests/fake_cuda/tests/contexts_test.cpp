// Several contexts, as real drivers have them: the handles of one in another, and memory of another device.
#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

/// A second context of the same device; the first is current.
class TwoContexts : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    ASSERT_EQ(name_of(cuCtxCreate(&other_, nullptr, 0, 0)), "CUDA_SUCCESS");
    ASSERT_EQ(name_of(cuCtxSetCurrent(context_)), "CUDA_SUCCESS");
  }
  void TearDown() override {
    cuCtxDestroy(other_);
    Cuda::TearDown();
  }
  template <class Make>
  auto in_other(Make make) {
    EXPECT_CUDA(cuCtxPushCurrent(other_));
    auto made = make();
    EXPECT_CUDA(cuCtxPopCurrent(nullptr));
    return made;
  }
  CUcontext other_ = nullptr;
};

TEST_F(TwoContexts, AKernelIsForStreamsOfItsContext) {
  const CUfunction function = function_of(module_of(store));
  const CUdeviceptr memory = allocated(64);
  const CUstream theirs = in_other([] { return stream(); });
  EXPECT_CUDA_ERROR(launch(function, memory, theirs), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA_ERROR(in_other([&] { return launch(function, memory, theirs); }), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA_ERROR(in_other([&] { return launch(function, memory, nullptr); }), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(launch(function, memory, stream()));
  EXPECT_CUDA(cuCtxSynchronize());
}

TEST_F(TwoContexts, AnEventIsRecordedInItsContext) {
  const CUevent ours = event();
  const CUstream theirs = in_other([] { return stream(); });
  EXPECT_CUDA_ERROR(cuEventRecord(ours, theirs), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA_ERROR(in_other([&] { return cuEventRecord(ours, nullptr); }), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventRecord(ours, stream()));
}

TEST_F(TwoContexts, AStreamWaitsForAnEventOfAnother) {
  volatile int* const words = pinned<int>(2);
  words[0] = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(words);
  const CUstream ours = stream(), theirs = in_other([] { return stream(); });
  const CUevent done = event();
  EXPECT_CUDA(cuStreamWaitValue32(ours, address, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuEventRecord(done, ours));
  EXPECT_CUDA(cuStreamWaitEvent(theirs, done, 0));
  EXPECT_CUDA_ERROR(cuStreamQuery(theirs), CUDA_ERROR_NOT_READY);
  words[0] = 1;
  EXPECT_CUDA(cuStreamSynchronize(theirs));
  EXPECT_CUDA(cuEventQuery(done));
}

TEST_F(TwoContexts, QueriesAndWaitsNeedNoCurrentContext) {
  const CUstream one = stream();
  const CUevent done = event();
  EXPECT_CUDA(cuEventRecord(done, one));
  const auto all = [&] {
    EXPECT_CUDA(cuEventSynchronize(done));
    EXPECT_CUDA(cuEventQuery(done));
    EXPECT_CUDA(cuStreamSynchronize(one));
    EXPECT_CUDA(cuStreamQuery(one));
    return 0;
  };
  in_other(all);
  EXPECT_CUDA(cuCtxSetCurrent(nullptr));
  all();
  EXPECT_CUDA(cuCtxSetCurrent(context_));
}

TEST_F(TwoContexts, ACopyGoesIntoAStreamOfAnother) {
  const CUdeviceptr memory = allocated(64), copy = allocated(64);
  const CUstream theirs = in_other([] { return stream(); });
  EXPECT_CUDA(cuMemsetD32(memory, 6, 1));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuMemcpyAsync(copy, memory, sizeof(int), theirs));
  EXPECT_CUDA(cuStreamSynchronize(theirs));
  EXPECT_EQ(first_word(copy), 6);
}

class TwoDevices : public Cuda {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    int devices = 0, can_access = 0;
    EXPECT_CUDA(cuDeviceGetCount(&devices));
    if (devices < 2) GTEST_SKIP() << "there is only one device";
    EXPECT_CUDA(cuDeviceCanAccessPeer(&can_access, 0, 1));
    if (can_access == 0) GTEST_SKIP() << "the devices do not reach each other";
    EXPECT_CUDA(cuDevicePrimaryCtxRetain(&other_, 1));
    EXPECT_CUDA(cuCtxPushCurrent(other_));
    memory_ = allocated(64);
    EXPECT_CUDA(cuMemsetD32(memory_, 8, 1));
    EXPECT_CUDA(cuCtxSynchronize());
    EXPECT_CUDA(cuCtxPopCurrent(nullptr));
  }
  void TearDown() override {
    if (other_ != nullptr) cuDevicePrimaryCtxRelease(1);
    Cuda::TearDown();
  }
  CUcontext other_ = nullptr;
  CUdeviceptr memory_ = 0;  ///< Memory of device 1; device 0 is current.
};

TEST_F(TwoDevices, AKernelCannotAccessMemoryOfTheOther) {
  EXPECT_CUDA(launch(function_of(module_of(store)), memory_, nullptr));
  EXPECT_CUDA_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  if (is_fake()) {
    EXPECT_EQ(caught("no-peer-access"), 1U);
  }
}

TEST_F(TwoDevices, AKernelCanOnceAccessIsEnabled) {
  EXPECT_CUDA(cuCtxEnablePeerAccess(other_, 0));
  EXPECT_CUDA_ERROR(cuCtxEnablePeerAccess(other_, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
  EXPECT_CUDA(launch(function_of(module_of(store)), memory_, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(first_word(memory_), 5);
  EXPECT_CUDA(cuCtxDisablePeerAccess(other_));
  EXPECT_CUDA_ERROR(cuCtxDisablePeerAccess(other_), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
  EXPECT_CUDA_ERROR(cuCtxEnablePeerAccess(context_, 0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(TwoDevices, ACopyNeedsNoAccess) {
  const CUdeviceptr here = allocated(64);
  const CUstream one = stream();
  EXPECT_CUDA(cuMemcpyAsync(here, memory_, sizeof(int), one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(first_word(here), 8);
}

TEST_F(TwoDevices, APoolOfTheOtherNeedsAccessOfItsOwn) {
  CUdeviceptr pooled = 0;
  CUmemoryPool pool = nullptr;
  const CUstream one = stream();
  EXPECT_CUDA(cuDeviceGetDefaultMemPool(&pool, 1));
  const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_CUDA(cuMemPoolSetAccess(pool, &access, 1));
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&pooled, 64, pool, one));
  EXPECT_CUDA(launch(function_of(module_of(store)), pooled, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(first_word(pooled), 5);
}

}  // namespace
}  // namespace fake_cuda
