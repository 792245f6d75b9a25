// Attributes of pointers, and the identity of contexts, as real drivers give them.
#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

/// All that the library asks of a pointer, with values that no driver gives before the call.
struct Answers {
  CUcontext context = reinterpret_cast<CUcontext>(1);
  unsigned type = 77, is_managed = 77;
  int device = 77;
  unsigned long long id = 77;
  CUdeviceptr begin = 77;
  std::size_t bytes = 77;
};

class Pointers : public Cuda {
 protected:
  static Answers ask(CUdeviceptr pointer) {
    Answers answers;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_CONTEXT,    CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                   CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                   CU_POINTER_ATTRIBUTE_BUFFER_ID,  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                   CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void* values[] = {&answers.context, &answers.type,  &answers.is_managed, &answers.device,
                      &answers.id,      &answers.begin, &answers.bytes};
    EXPECT_CUDA(cuPointerGetAttributes(7, which, values, pointer));
    return answers;
  }
};

TEST_F(Pointers, OfDeviceMemory) {
  const CUdeviceptr memory = allocated(1000), other = allocated(1000);
  const Answers answers = ask(memory + 999);
  EXPECT_EQ(answers.context, context_);
  EXPECT_EQ(answers.type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(answers.is_managed, 0U);
  EXPECT_EQ(answers.device, 0);
  EXPECT_EQ(answers.id, ask(memory).id);
  EXPECT_NE(answers.id, ask(other).id);
  EXPECT_EQ(answers.begin, memory);
  EXPECT_EQ(answers.bytes, 1000U);
}

TEST_F(Pointers, OfAPoolHaveNoContext) {
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemAllocAsync(&memory, 1000, nullptr));
  const Answers answers = ask(memory + 10);
  EXPECT_EQ(answers.context, nullptr);
  EXPECT_EQ(answers.type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(answers.is_managed, 0U);
  EXPECT_EQ(answers.device, 0);
  EXPECT_NE(answers.id, 0U);
  EXPECT_CUDA(cuMemFreeAsync(memory, nullptr));
}

TEST_F(Pointers, OfMappedMemoryHaveNoContext) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t bytes = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUdeviceptr memory = 0;
  EXPECT_CUDA(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  EXPECT_CUDA(cuMemCreate(&handle, bytes, &properties, 0));
  EXPECT_CUDA(cuMemAddressReserve(&memory, bytes, 0, 0, 0));
  EXPECT_CUDA(cuMemMap(memory, bytes, 0, handle, 0));
  const Answers answers = ask(memory + 10);
  EXPECT_EQ(answers.context, nullptr);
  EXPECT_EQ(answers.type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(answers.device, 0);
  EXPECT_NE(answers.id, 0U);
  EXPECT_EQ(answers.begin, memory);
  EXPECT_EQ(answers.bytes, bytes);
  EXPECT_CUDA(cuMemUnmap(memory, bytes));
  EXPECT_CUDA(cuMemRelease(handle));
  EXPECT_CUDA(cuMemAddressFree(memory, bytes));
}

TEST_F(Pointers, OfManagedAndPinnedMemory) {
  CUdeviceptr managed = 0;
  EXPECT_CUDA(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(ask(managed).is_managed, 1U);
  EXPECT_EQ(ask(managed).type, CU_MEMORYTYPE_DEVICE);
  EXPECT_CUDA(cuMemFree(managed));
  const Answers answers = ask(reinterpret_cast<CUdeviceptr>(pinned<int>(10)));
  EXPECT_EQ(answers.type, CU_MEMORYTYPE_HOST);
  EXPECT_EQ(answers.is_managed, 0U);
}

TEST_F(Pointers, OfNoAllocationAreDefaults) {
  const CUdeviceptr freed = allocated(1000);
  EXPECT_CUDA(cuMemFree(freed));
  int host = 0;
  for (const CUdeviceptr pointer : {reinterpret_cast<CUdeviceptr>(&host), freed, CUdeviceptr{0}}) {
    const Answers answers = ask(pointer);
    EXPECT_EQ(answers.context, nullptr);
    EXPECT_EQ(answers.type, 0U);
    EXPECT_EQ(answers.is_managed, 0U);
    EXPECT_EQ(answers.id, 0U);
    EXPECT_EQ(answers.begin, 0U);
    EXPECT_EQ(answers.bytes, 0U);
    CUcontext context = nullptr;
    EXPECT_CUDA_ERROR(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, pointer), CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(Pointers, NeedNoCurrentContext) {
  const CUdeviceptr memory = allocated(1000);
  EXPECT_CUDA(cuCtxSetCurrent(nullptr));
  EXPECT_EQ(ask(memory).context, context_);
  EXPECT_CUDA(cuCtxSetCurrent(context_));
}

using Identity = Cuda;

TEST_F(Identity, PrimaryContextsAreCounted) {
  CUcontext again = nullptr;
  unsigned flags = 0;
  int is_active = 0;
  EXPECT_CUDA(cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context_);
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  EXPECT_EQ(is_active, 1);
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuDevicePrimaryCtxRelease(0));
  EXPECT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &is_active));
  EXPECT_EQ(is_active, 0);
  EXPECT_CUDA_ERROR(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Identity, ContextsHaveIds) {
  unsigned long long id = 0, same = 0, others = 0;
  CUcontext other = nullptr, current = nullptr;
  EXPECT_CUDA(cuCtxGetId(context_, &id));
  EXPECT_CUDA(cuCtxGetId(nullptr, &same));
  EXPECT_EQ(id, same);
  EXPECT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, other);
  EXPECT_CUDA(cuCtxGetId(nullptr, &others));
  EXPECT_NE(others, id);
  EXPECT_CUDA(cuCtxPopCurrent(&current));
  EXPECT_EQ(current, other);
  EXPECT_CUDA(cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context_);
  EXPECT_CUDA(cuCtxDestroy(other));
  EXPECT_CUDA(cuCtxSetCurrent(nullptr));
  EXPECT_CUDA_ERROR(cuCtxGetId(nullptr, &same), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuCtxSetCurrent(context_));
}

}  // namespace
}  // namespace fake_cuda
