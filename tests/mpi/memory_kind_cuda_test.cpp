// Kinds of memory as CUDA allocates them.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>

#include "lib/memory/memory_kind.hpp"

namespace tutti {
namespace {

constexpr std::size_t bytes = 4096;

class CudaMemory : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
  }
};

TEST_F(CudaMemory, OnADeviceNamesTheDevice) {
  int device = -1;
  void* data = nullptr;
  ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&data, bytes), cudaSuccess);
  EXPECT_EQ(memory_of(data), (Memory{MemoryKind::device, device}));
  EXPECT_EQ(memory_of(static_cast<char*>(data) + bytes - 1), (Memory{MemoryKind::device, device}));
  cudaFree(data);
}

TEST_F(CudaMemory, ManagedIsReadableByTheHost) {
  void* data = nullptr;
  ASSERT_EQ(cudaMallocManaged(&data, bytes), cudaSuccess);
  EXPECT_EQ(memory_of(data), Memory{MemoryKind::managed});
  cudaFree(data);
}

TEST_F(CudaMemory, PinnedIsAllocatedOrRegistered) {
  void* data = nullptr;
  ASSERT_EQ(cudaMallocHost(&data, bytes), cudaSuccess);
  EXPECT_EQ(memory_of(data), Memory{MemoryKind::pinned});
  cudaFreeHost(data);
  alignas(bytes) static std::array<char, bytes> page{};
  EXPECT_EQ(memory_of(page.data()), Memory{});
  ASSERT_EQ(cudaHostRegister(page.data(), bytes, cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(memory_of(page.data()), Memory{MemoryKind::pinned});
  cudaHostUnregister(page.data());
}

}  // namespace
}  // namespace tutti
