// Kinds of memory as CUDA allocates them: on a machine with a GPU, or over the fake driver.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/device/driver/driver.hpp"
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

/// The driver takes a fraction of a microsecond to find out, which short calls of the host would pay.
TEST_F(CudaMemory, OnTheStackAndInTheHeapIsNotAskedFor) {
  const int on_stack = 0;
  const auto in_heap = std::make_unique<int>();
  const std::vector<char> mapped(std::size_t{64} << 20);  // by mmap
  static const int in_program = 0;
  const auto asks = [](const void* data) {
    auto* const calls = of_driver<decltype(fake_cuda_calls)>("fake_cuda_calls");
    const std::uint64_t before = calls == nullptr ? 0 : calls("cuPointerGetAttributes");
    EXPECT_EQ(memory_of(data), Memory{});
    return calls == nullptr ? 0 : calls("cuPointerGetAttributes") - before;
  };
  EXPECT_TRUE(is_on_stack_or_heap(&on_stack));
  EXPECT_TRUE(is_on_stack_or_heap(in_heap.get()));
  EXPECT_FALSE(is_on_stack_or_heap(mapped.data()));
  EXPECT_FALSE(is_on_stack_or_heap(&in_program));
  EXPECT_FALSE(is_on_stack_or_heap(nullptr));
  EXPECT_EQ(asks(&on_stack), 0U);
  EXPECT_EQ(asks(in_heap.get()), 0U);
  EXPECT_EQ(asks(mapped.data()), of_driver<decltype(fake_cuda_calls)>("fake_cuda_calls") == nullptr ? 0U : 1U);
  bool has_other_stack = false;
  std::thread{[&] {
    const int there = 0;
    has_other_stack = is_on_stack_or_heap(&there) && !is_on_stack_or_heap(&on_stack);
  }}.join();
  EXPECT_TRUE(has_other_stack);
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
