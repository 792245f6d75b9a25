// Kinds of memory as CUDA allocates them: on a machine with a GPU, or over the fake driver.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "lib/cuda/driver.hpp"
#include "lib/memory/memory_kind.hpp"
#include "tests/cuda/cuda_support.hpp"

namespace tutti {
namespace {

using cuda::of_driver;

constexpr std::size_t bytes = 4096;

class CudaMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (cuda::driver() == nullptr) GTEST_SKIP() << cuda::why_no_driver();
    CUcontext context = nullptr;
    ASSERT_EQ(of_driver<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(of_driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), CUDA_SUCCESS);
  }
  static const void* pointer(CUdeviceptr address) { return reinterpret_cast<const void*>(address); }
};

TEST_F(CudaMemory, OnADeviceNamesTheDevice) {
  CUdeviceptr data = 0;
  ASSERT_EQ(of_driver<decltype(cuMemAlloc)>("cuMemAlloc_v2")(&data, bytes), CUDA_SUCCESS);
  EXPECT_EQ(memory_of(pointer(data)), (Memory{MemoryKind::device, 0}));
  EXPECT_EQ(memory_of(pointer(data + bytes - 1)), (Memory{MemoryKind::device, 0}));
  EXPECT_EQ(of_driver<decltype(cuMemFree)>("cuMemFree_v2")(data), CUDA_SUCCESS);
  EXPECT_EQ(memory_of(pointer(data)), Memory{}) << "freed";
}

TEST_F(CudaMemory, OfAPoolIsOnTheDevice) {
  CUdeviceptr data = 0;
  ASSERT_EQ(of_driver<decltype(cuMemAllocAsync)>("cuMemAllocAsync")(&data, bytes, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(memory_of(pointer(data)), (Memory{MemoryKind::device, 0}));
}

TEST_F(CudaMemory, ManagedIsReadableByTheHost) {
  CUdeviceptr data = 0;
  ASSERT_EQ(of_driver<decltype(cuMemAllocManaged)>("cuMemAllocManaged")(&data, bytes, CU_MEM_ATTACH_GLOBAL),
            CUDA_SUCCESS);
  EXPECT_EQ(memory_of(pointer(data)), Memory{MemoryKind::managed});
}

TEST_F(CudaMemory, PinnedIsAllocatedOrRegistered) {
  void* data = nullptr;
  ASSERT_EQ(of_driver<decltype(cuMemHostAlloc)>("cuMemHostAlloc")(&data, bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(memory_of(data), Memory{MemoryKind::pinned});
  alignas(bytes) static std::array<char, bytes> page{};
  EXPECT_EQ(memory_of(page.data()), Memory{});
  ASSERT_EQ(of_driver<decltype(cuMemHostRegister)>("cuMemHostRegister_v2")(page.data(), bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(memory_of(page.data()), Memory{MemoryKind::pinned});
  EXPECT_EQ(of_driver<decltype(cuMemHostUnregister)>("cuMemHostUnregister")(page.data()), CUDA_SUCCESS);
}

TEST_F(CudaMemory, OfTheProcessIsTheHosts) {
  int local = 0;
  EXPECT_EQ(memory_of(&local), Memory{});
  EXPECT_EQ(memory_of(nullptr), Memory{});
}

}  // namespace
}  // namespace tutti
