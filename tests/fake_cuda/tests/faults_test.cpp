// Faults that the fake driver must catch, each planted here.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "tests/fake_cuda/tests/faults_fixture.hpp"

namespace fake_cuda {
namespace {

TEST_F(Faults, HostAccessToDeviceMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const CUdeviceptr memory = allocated(64);
  EXPECT_EXIT(*reinterpret_cast<volatile int*>(memory) = 1, testing::KilledBySignal(SIGSEGV), "host-access: .*device");
}

TEST_F(Faults, HostAccessBySystemCallsIsAnError) {
  const CUdeviceptr memory = allocated(64);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(::write(ends[1], reinterpret_cast<const void*>(memory), 4), -1);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(Faults, AccessBeyondTheEnd) {
  run(store, allocated(64) + 64 - 0);
  EXPECT_CUDA_ERROR(result_, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(caught("out-of-bounds") + caught("unknown-address"), 1U);
}

TEST_F(Faults, CopyBeyondTheEnd) {
  const CUdeviceptr memory = allocated(64), other = allocated(4096);
  EXPECT_CUDA(cuMemcpyDtoD(memory, other, 100));
  EXPECT_CUDA_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(caught("out-of-bounds"), 1U);
}

TEST_F(Faults, MisalignedAccess) {
  run(store, allocated(64) + 2);
  EXPECT_EQ(caught("misaligned"), 1U);
}

TEST_F(Faults, UseAfterFree) {
  const CUdeviceptr memory = allocated(64);
  EXPECT_CUDA(cuMemFree(memory));
  run(store, memory);
  EXPECT_CUDA_ERROR(result_, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(caught("use-after-free"), 1U);
}

TEST_F(Faults, FreeBeforeAnOperationHasRun) {
  const CUstream one = stream(), other = stream();
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemAllocAsync(&memory, 64, one));
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  EXPECT_CUDA(cuStreamWaitValue32(other, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, other));
  EXPECT_CUDA(cuMemFreeAsync(memory, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  *flag = 1;
  EXPECT_CUDA_ERROR(cuStreamSynchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(caught("use-after-free"), 1U);
}

/// The address has new memory, with another buffer id.
TEST_F(Faults, FreeAndReuseBeforeAnOperationHasRun) {
  const CUstream one = stream(), other = stream();
  CUdeviceptr memory = 0, again = 0;
  EXPECT_CUDA(cuMemAllocAsync(&memory, 64, one));
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  EXPECT_CUDA(cuStreamWaitValue32(other, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, other));
  EXPECT_CUDA(cuMemFreeAsync(memory, one));
  EXPECT_CUDA_ERROR(cuMemFreeAsync(memory, one), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_CUDA(cuMemAllocAsync(&again, 64, one));
  EXPECT_EQ(again, memory);
  *flag = 1;
  EXPECT_CUDA_ERROR(cuStreamSynchronize(other), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(caught("use-after-free"), 1U);
}

TEST_F(Faults, UnknownInstruction) {
  run("  ex2.approx.f32 %f1, %f2;", allocated(64));
  EXPECT_CUDA_ERROR(found_, CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(caught("kernel"), 1U);
}

TEST_F(Faults, CallInAHostFunction) {
  static CUresult result;
  const CUstream one = stream();
  EXPECT_CUDA(cuLaunchHostFunc(
      one,
      [](void*) {
        int count = 0;
        result = cuDeviceGetCount(&count);
      },
      nullptr));
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_CUDA_ERROR(result, CUDA_ERROR_NOT_PERMITTED);
  EXPECT_EQ(caught("call-in-host-function"), 1U);
}

TEST_F(Faults, SynchronisingCallWhileAnOperationWaits) {
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  const CUdeviceptr memory = allocated(64);
  const CUstream one = stream();
  EXPECT_CUDA(cuStreamWaitValue32(one, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  std::thread later{[&] {
    while (caught("synchronises-while-waiting") == 0)
      std::this_thread::yield();
    *flag = 1;
  }};
  EXPECT_CUDA(cuMemFree(memory));
  later.join();
  EXPECT_EQ(caught("synchronises-while-waiting"), 1U);
}

TEST_F(Faults, MissingEventWaitIsARace) {
  const CUdeviceptr memory = allocated(64);
  const CUstream writer = stream(), reader = stream();
  int* const seen = pinned<int>(1);
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, writer));
  EXPECT_CUDA(cuMemcpyDtoHAsync(seen, memory, sizeof(int), reader));
  EXPECT_CUDA(cuStreamSynchronize(reader));
  EXPECT_CUDA(cuStreamSynchronize(writer));
  EXPECT_EQ(caught("race"), 1U);
}

/// The host has seen that an operation is over, and not those behind it, which are over as well.
TEST_F(Faults, AnEarlierEventIsNoOrder) {
  const CUdeviceptr memory = allocated(64), other = allocated(64);
  const CUstream writer = stream(), reader = stream();
  const CUevent early = event();
  int* const seen = pinned<int>(1);
  EXPECT_CUDA(cuMemsetD32Async(other, 1, 1, writer));
  EXPECT_CUDA(cuEventRecord(early, writer));
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, writer));
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  EXPECT_CUDA(cuEventQuery(early));
  EXPECT_CUDA(cuMemcpyDtoHAsync(seen, other, sizeof(int), reader));
  EXPECT_CUDA(cuStreamSynchronize(reader));
  EXPECT_EQ(caught("race"), 0U);
  EXPECT_CUDA(cuMemcpyDtoHAsync(seen, memory, sizeof(int), reader));
  EXPECT_CUDA(cuStreamSynchronize(reader));
  EXPECT_EQ(caught("race"), 1U);
}

/// A kernel touches two words of an allocation, a copy the word between them.
TEST_F(Faults, BytesBetweenThoseOfAKernelAreNoRace) {
  const CUdeviceptr memory = allocated(64), other = allocated(64);
  EXPECT_CUDA(cuMemsetD32Async(memory + 4, 1, 1, stream()));
  run("  mov.u32 %r1, 5;\n  st.global.u32 [%rd1], %r1;\n  st.global.u32 [%rd1+8], %r1;", memory);
  EXPECT_EQ(caught("race"), 0U);
  EXPECT_CUDA(cuMemsetD32Async(other + 8, 1, 1, stream()));
  run("  mov.u32 %r1, 5;\n  st.global.u32 [%rd1], %r1;\n  st.global.u32 [%rd1+8], %r1;", other);
  EXPECT_EQ(caught("race"), 1U);
}

TEST_F(Faults, AValueInMemoryOrdersThoseWhoWaitForIt) {
  const CUdeviceptr memory = allocated(64), flags = allocated(64);
  EXPECT_CUDA(cuMemsetD32(flags, 0, 2));
  EXPECT_CUDA(cuCtxSynchronize());
  const CUstream writer = stream(), reader = stream();
  int* const seen = pinned<int>(1);
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, writer));
  EXPECT_CUDA(cuStreamWriteValue32(writer, flags, 1, 0));
  EXPECT_CUDA(cuStreamWaitValue32(reader, flags, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemcpyDtoHAsync(seen, memory, sizeof(int), reader));
  EXPECT_CUDA(cuStreamSynchronize(reader));
  EXPECT_EQ(caught("race"), 0U);
  // Another word orders nothing.
  const CUstream third = stream(), fourth = stream();
  EXPECT_CUDA(cuStreamWriteValue32(fourth, flags + 4, 1, 0));
  EXPECT_CUDA(cuMemsetD32Async(memory, 2, 1, third));
  EXPECT_CUDA(cuStreamWriteValue32(third, flags, 2, 0));
  EXPECT_CUDA(cuStreamWaitValue32(reader, flags + 4, 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemcpyDtoHAsync(seen, memory, sizeof(int), reader));
  EXPECT_CUDA(cuStreamSynchronize(reader));
  EXPECT_CUDA(cuStreamSynchronize(third));
  EXPECT_GE(caught("race"), 1U);
}

class LateFaults : public Faults {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_DELAY_US", "100000", 1);
    Faults::SetUp();
  }
  /// Copies 5 to a word that is 5, and reads the word all the while: whether it had another value, in one of several
  /// attempts, as a copy may be over before this thread looks. It is 5 afterwards.
  bool is_garbage_while_copied(int* word) {
    const CUdeviceptr memory = allocated(64);
    EXPECT_CUDA(cuMemsetD32(memory, 5, 1));
    EXPECT_CUDA(cuCtxSynchronize());
    const CUstream one = stream();
    const volatile int* const seen = word;
    bool was_garbage = false;
    for (int attempts = 0; attempts < 50 && !was_garbage; ++attempts) {
      EXPECT_CUDA(cuMemcpyDtoHAsync(word, memory, sizeof(int), one));
      while (cuStreamQuery(one) == CUDA_ERROR_NOT_READY)
        was_garbage |= *seen != 5;
      EXPECT_EQ(*seen, 5);
    }
    return was_garbage;
  }
};

TEST_F(LateFaults, MissingStreamWaitIsReadAsGarbage) {
  int* const word = pinned<int>(1);
  *word = 5;  // the right value, from before
  EXPECT_TRUE(is_garbage_while_copied(word)) << "nobody has waited for the copy";
}

TEST_F(LateFaults, MissingWaitForACopyIntoRegisteredMemoryIsReadAsGarbage) {
  std::vector<int> words(1000, 5);
  EXPECT_CUDA(cuMemHostRegister(words.data(), words.size() * sizeof(int), 0));
  EXPECT_TRUE(is_garbage_while_copied(words.data())) << "nobody has waited for the copy";
  EXPECT_CUDA(cuMemHostUnregister(words.data()));
}

TEST_F(Faults, AStreamThatIsDestroyedKeepsItsWork) {
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  const CUdeviceptr memory = allocated(64);
  const CUstream one = stream();
  EXPECT_CUDA(cuStreamWaitValue32(one, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemsetD32Async(memory, 7, 1, one));
  EXPECT_CUDA(cuStreamDestroy(one));
  *flag = 1;
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(first_word(memory), 7);
}

TEST_F(Faults, AResetEndsWhatWaits) {
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  EXPECT_CUDA(cuStreamWaitValue32(stream(), reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
}

TEST_F(Faults, ContextsThatAreMadeAreCounted) {
  const std::uint64_t before = counters().contexts;
  CUcontext made = nullptr;
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&made, 0));
  EXPECT_EQ(counters().contexts, before) << "it was there";
  EXPECT_CUDA(cuCtxCreate(&made, nullptr, 0, 0));
  EXPECT_EQ(counters().contexts, before + 1);
  EXPECT_CUDA(cuCtxDestroy(made));
}

TEST_F(Faults, HandlesOfWrongMemory) {
  CUipcMemHandle handle;
  CUdeviceptr pointer = 0;
  EXPECT_CUDA(cuIpcGetMemHandle(&handle, allocated(4096)));
  EXPECT_CUDA_ERROR(cuIpcOpenMemHandle(&pointer, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                    CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(caught("ipc-own-handle"), 1U);
  EXPECT_CUDA(cuMemAllocAsync(&pointer, 4096, nullptr));
  EXPECT_CUDA_ERROR(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(caught("ipc-of-other-memory"), 1U);
}

}  // namespace
}  // namespace fake_cuda
