// What nobody here knows of real drivers. Each test takes either behaviour, says which it met, and fails at a third
// one. Of the fake driver the environment chooses (tests/fake_cuda/README.md), and then the test expects it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/fake_cuda/tests/shareable_fixture.hpp"

namespace fake_cuda {
namespace {

/// Whether the fake driver is asked to differ from its usual behaviour by a variable; of NVIDIA's, what was met.
bool is_expected(const char* variable, bool met) { return is_fake() ? ::getenv(variable) != nullptr : met; }

#define EXPECT_MODEL(variable, met, yes, no)                  \
  do {                                                        \
    std::printf("model: %s\n", (met) ? (yes) : (no));         \
    EXPECT_EQ(met, is_expected(variable, met)) << (variable); \
  } while (false)

class Models : public Shareable {
 protected:
  [[nodiscard]] static CUipcMemHandle handle_of(CUdeviceptr memory) {
    CUipcMemHandle handle{};
    EXPECT_CUDA(cuIpcGetMemHandle(&handle, memory));
    return handle;
  }
};

TEST_F(Models, StreamsWaitForWordsOrRefuse) {
  auto* const word = pinned<int>(1);
  *word = 1;
  const CUstream one = stream();
  const CUresult waits = cuStreamWaitValue32(one, reinterpret_cast<CUdeviceptr>(word), 1, CU_STREAM_WAIT_VALUE_EQ);
  EXPECT_MODEL("FAKE_CUDA_STREAM_MEMOPS", waits != CUDA_SUCCESS, "streams refuse to wait for words",
               "streams wait for words");
  if (waits != CUDA_SUCCESS) {
    EXPECT_CUDA_ERROR(waits, CUDA_ERROR_NOT_SUPPORTED);
  }
  EXPECT_CUDA(cuStreamSynchronize(one));
}

TEST_F(Models, BatchesHaveFewerThan256Operations) {
  auto* const words = pinned<int>(256);
  const CUstream one = stream();
  std::vector<CUstreamBatchMemOpParams> writes(256);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    writes[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    writes[i].writeValue.address = reinterpret_cast<CUdeviceptr>(words + i);
    writes[i].writeValue.value = 7;
  }
  const CUresult most = cuStreamBatchMemOp(one, 255, writes.data(), 0);
  if (most == CUDA_ERROR_NOT_SUPPORTED) GTEST_SKIP() << "streams refuse to write words";
  EXPECT_CUDA(most);
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(words[254], 7);
  const bool refuses = cuStreamBatchMemOp(one, 256, writes.data(), 0) != CUDA_SUCCESS;
  std::printf("model: a batch of 256 operations is %s\n", refuses ? "refused" : "taken");
  if (is_fake()) {
    EXPECT_TRUE(refuses);
  }
  EXPECT_CUDA(cuStreamSynchronize(one));
}

TEST_F(Models, MappedMemoryHasANumberOrNot) {
  CUmemGenericAllocationHandle made = 0;
  EXPECT_CUDA(create(made, posix));
  const CUdeviceptr first = mapped(made);
  const auto id = ask<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, first);
  EXPECT_MODEL("FAKE_CUDA_MAPPED_ID", id == 0, "memory of cuMemMap has no number", "memory of cuMemMap has a number");
}

/// Small memory is a part of a block. A peer opens the part, or the block.
TEST_F(Models, HandlesGiveTheMemoryOrItsBlock) {
  constexpr std::size_t bytes = 1000, block = std::size_t{2} << 20;
  const CUdeviceptr first = allocated(bytes), second = allocated(bytes);
  EXPECT_CUDA(cuMemsetD32(first, 41, bytes / sizeof(int)));
  EXPECT_CUDA(cuMemsetD32(second, 42, bytes / sizeof(int)));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(peer_->open(handle_of(second)), CUDA_SUCCESS);
  const bool gives_block = peer_->read().value != 42;
  EXPECT_MODEL("FAKE_CUDA_IPC_BLOCK", gives_block, "a handle gives the block that memory is a part of",
               "a handle gives the memory");
  if (gives_block) {
    EXPECT_EQ(peer_->read(second % block).value, 42) << "the block begins at a multiple of 2 MiB";
  }
  EXPECT_EQ(peer_->close().result, CUDA_SUCCESS);
}

/// A peer has memory mapped that its owner has freed, and opens other memory with the same addresses there.
TEST_F(Models, AStaleMappingIsInTheWayOrNot) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  const CUdeviceptr first = allocated(bytes);
  EXPECT_EQ(peer_->open(handle_of(first)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemFree(first));
  const CUdeviceptr second = allocated(bytes);
  if (second != first) GTEST_SKIP() << "freed addresses are not given out again";
  const CUresult opened = peer_->open(handle_of(second));
  EXPECT_MODEL("FAKE_CUDA_ALREADY_MAPPED", opened != CUDA_SUCCESS, "a stale mapping is in the way",
               "a stale mapping is not in the way");
  if (opened != CUDA_SUCCESS) {
    EXPECT_EQ(opened, CUDA_ERROR_ALREADY_MAPPED);
  }
}

/// Registered without CU_MEMHOSTREGISTER_DEVICEMAP, and with it.
TEST_F(Models, KernelsFindRegisteredMemoryWhereTheHostDoesOrNot) {
  alignas(4096) static std::array<int, 1024> plain{}, mapped{};
  EXPECT_CUDA(cuMemHostRegister(plain.data(), sizeof plain, CU_MEMHOSTREGISTER_PORTABLE));
  EXPECT_CUDA(
      cuMemHostRegister(mapped.data(), sizeof mapped, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
  CUdeviceptr of_plain = 0, of_mapped = 0;
  const bool has_none = cuMemHostGetDevicePointer(&of_plain, plain.data(), 0) != CUDA_SUCCESS;
  EXPECT_CUDA(cuMemHostGetDevicePointer(&of_mapped, mapped.data(), 0));
  EXPECT_MODEL("FAKE_CUDA_HOST_POINTER", has_none, "memory that is registered without DEVICEMAP has no device pointer",
               "memory that is registered without DEVICEMAP has a device pointer");
  std::printf("model: registered memory has %s address on the device\n",
              of_mapped == reinterpret_cast<CUdeviceptr>(mapped.data()) ? "the same" : "another");
  EXPECT_CUDA(launch(function_of(module_of(store)), of_mapped, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(mapped[0], 5);
  EXPECT_CUDA(cuMemHostUnregister(plain.data()));
  EXPECT_CUDA(cuMemHostUnregister(mapped.data()));
}

/// A context is asked for its number alone if it lives: this is what a real driver says of one that does not.
TEST_F(Models, ContextsThatWereResetHaveOtherNumbers) {
  unsigned long long before = 0, after = 0;
  EXPECT_CUDA(cuCtxGetId(context_, &before));
  EXPECT_CUDA(cuDevicePrimaryCtxReset(0));
  EXPECT_CUDA(cuCtxSetCurrent(context_));
  const CUresult asked = cuCtxGetId(context_, &after);
  std::printf("model: after a reset a primary context has %s number (%s)\n", after == before ? "the same" : "another",
              name_of(asked).c_str());
  if (is_fake()) {
    EXPECT_CUDA(asked);
    EXPECT_NE(after, before);
  }
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&context_, 0));
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemAlloc(&memory, 64));
  EXPECT_CUDA(cuMemFree(memory));
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
}

TEST_F(Models, MemoryOfADestroyedContextIsNobodys) {
  CUcontext other = nullptr;
  EXPECT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  const CUdeviceptr memory = allocated(64);
  const auto id = ask<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, memory);
  EXPECT_NE(id, 0U);
  EXPECT_CUDA(cuCtxDestroy(other));
  EXPECT_CUDA(cuCtxSetCurrent(context_));
  unsigned long long now = 0;
  void* values[] = {&now};
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_BUFFER_ID};
  EXPECT_CUDA(cuPointerGetAttributes(1, which, values, memory));
  EXPECT_EQ(now, 0U);
  const CUdeviceptr next = allocated(64);
  EXPECT_NE(ask<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, next), id) << "numbers are not given out again";
}

}  // namespace
}  // namespace fake_cuda
