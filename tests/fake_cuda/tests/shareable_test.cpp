// Handles of mapped memory and of pools for other processes, as real drivers give them.
#include "tests/fake_cuda/tests/shareable_fixture.hpp"

namespace fake_cuda {
namespace {

TEST_F(Shareable, MappedMemoryGivesItsHandleAndProperties) {
  CUmemGenericAllocationHandle made = 0, retained = 0;
  EXPECT_CUDA(create(made, posix));
  const CUdeviceptr pointer = mapped(made);
  EXPECT_CUDA(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(pointer + 100)));
  EXPECT_CUDA(cuMemRelease(made));
  CUmemAllocationProp found{};
  EXPECT_CUDA(cuMemGetAllocationPropertiesFromHandle(&found, retained));
  EXPECT_EQ(found.type, CU_MEM_ALLOCATION_TYPE_PINNED);
  EXPECT_EQ(found.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(found.location.id, 0);
  EXPECT_EQ(found.requestedHandleTypes, posix);
  EXPECT_CUDA(cuMemRelease(retained));
  const CUdeviceptr plain = allocated(64);
  EXPECT_CUDA_ERROR(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(plain)), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Shareable, PointersTellTheirHandles) {
  CUmemGenericAllocationHandle made = 0;
  CUdeviceptr shared = 0, pooled = 0;
  CUmemoryPool usual = nullptr;
  const CUmemoryPool pool_of_files = pool(posix);
  const CUdeviceptr plain = allocated(64);
  EXPECT_CUDA(create(made, posix));
  const CUdeviceptr pointer = mapped(made);
  EXPECT_CUDA(cuDeviceGetDefaultMemPool(&usual, 0));
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&shared, 64, pool_of_files, nullptr));
  EXPECT_CUDA(cuMemAllocAsync(&pooled, 64, nullptr));
  constexpr auto types = CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES;
  EXPECT_EQ(ask<std::uint64_t>(types, plain), none);
  EXPECT_EQ(ask<std::uint64_t>(types, pointer), posix);
  EXPECT_EQ(ask<std::uint64_t>(types, shared), posix);
  EXPECT_EQ(ask<std::uint64_t>(types, pooled), none);
  constexpr auto legacy = CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
  EXPECT_EQ(ask<unsigned>(legacy, plain), 1U);
  for (const CUdeviceptr other : {pointer, shared, pooled})
    EXPECT_EQ(ask<unsigned>(legacy, other), 0U);
  constexpr auto of_pool = CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE;
  EXPECT_EQ(ask<CUmemoryPool>(of_pool, shared), pool_of_files);
  EXPECT_EQ(ask<CUmemoryPool>(of_pool, pooled), usual);
}

TEST_F(Shareable, FabricHandlesOpenInOtherProcesses) {
  CUmemGenericAllocationHandle made = 0;
  int has = 0;
  EXPECT_CUDA(cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, 0));
  if (has == 0 || create(made, fabric) != CUDA_SUCCESS) GTEST_SKIP() << "no fabric here";
  const CUdeviceptr pointer = mapped(made);
  CUmemFabricHandle handle{};
  EXPECT_CUDA(cuMemExportToShareableHandle(&handle, made, fabric, 0));
  EXPECT_CUDA(cuMemsetD32(pointer, 81, 4));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(peer_->open(handle), CUDA_SUCCESS);
  const Peer::Answer answer = peer_->read();
  EXPECT_EQ(answer.result, CUDA_SUCCESS);
  EXPECT_EQ(answer.value, 81);
  EXPECT_EQ(answer.faults, 0U);
}

TEST_F(Shareable, MemoryHasTheHandlesAloneThatItWasMadeWith) {
  CUmemGenericAllocationHandle made = 0;
  std::int64_t file = 0;
  EXPECT_CUDA(create(made, none));
  EXPECT_CUDA_ERROR(cuMemExportToShareableHandle(&file, made, posix, 0), CUDA_ERROR_INVALID_VALUE);
  CUmemPoolPtrExportData data{};
  CUdeviceptr pooled = 0;
  EXPECT_CUDA_ERROR(cuMemPoolExportToShareableHandle(&file, pool(none), posix, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocAsync(&pooled, 64, nullptr));
  EXPECT_CUDA_ERROR(cuMemPoolExportPointer(&data, pooled), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Shareable, PoolsAndTheirMemoryOpenInOtherProcesses) {
  const CUdeviceptr pointer = opened(pool(posix));
  const Peer::Answer answer = peer_->read();
  EXPECT_EQ(answer.result, CUDA_SUCCESS);
  EXPECT_EQ(answer.value, 91);
  EXPECT_EQ(peer_->free().result, CUDA_SUCCESS);
  EXPECT_EQ(first_word(pointer), 91) << "it was the other's mapping alone";
  EXPECT_CUDA(cuMemFree(pointer));
}

}  // namespace
}  // namespace fake_cuda
