// Behaviour that real drivers have: to be run on one where there is one. Where they differ, the fake is wrong.
#include <cstdlib>
#include <numeric>
#include <thread>

#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

/// So much the fake driver has, unless the environment says otherwise.
[[maybe_unused]] const bool is_set = [] {
  ::setenv("FAKE_CUDA_DEVICES", "2", 0);
  ::setenv("FAKE_CUDA_FABRIC", "1", 0);
  return true;
}();

using Conformance = Cuda;

TEST_F(Conformance, DeviceMemoryKnowsItsContextDeviceAndKind) {
  const CUdeviceptr memory = allocated(4096);
  CUcontext context = nullptr;
  unsigned type = 0, is_managed = 1;
  int device = -1;
  unsigned long long id = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_BUFFER_ID,
                                 CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void* values[] = {&context, &type, &device, &id, &is_managed};
  EXPECT_CUDA(cuPointerGetAttributes(5, which, values, memory + 40));
  EXPECT_EQ(context, context_);
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(device, 0);
  EXPECT_NE(id, 0U);
  EXPECT_EQ(is_managed, 0U);
}

TEST_F(Conformance, AttributesOfAPlainPointerAreAnErrorOrDefaults) {
  int host = 0;
  unsigned type = 7;
  const auto address = reinterpret_cast<CUdeviceptr>(&host);
  EXPECT_CUDA_ERROR(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address), CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
  void* values[] = {&type};
  EXPECT_CUDA(cuPointerGetAttributes(1, which, values, address));
  EXPECT_EQ(type, 0U);
}

TEST_F(Conformance, AThreadWithoutAContextCannotAllocate) {
  CUresult result = CUDA_SUCCESS;
  std::thread{[&] {
    CUdeviceptr memory = 0;
    result = cuMemAlloc(&memory, 64);
  }}.join();
  EXPECT_CUDA_ERROR(result, CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Conformance, CopiesArriveInTheOrderOfTheStream) {
  std::vector<int> data(50'000);
  std::iota(data.begin(), data.end(), 0);
  const std::size_t bytes = data.size() * sizeof(int);
  const CUdeviceptr first = allocated(bytes), second = allocated(bytes);
  const CUstream one = stream();
  int* const back = pinned<int>(data.size());
  EXPECT_CUDA(cuMemcpyHtoDAsync(first, data.data(), bytes, one));
  std::fill(data.begin(), data.end(), -1);  // staged: the call has read them
  EXPECT_CUDA(cuMemcpyDtoDAsync(second, first, bytes, one));
  EXPECT_CUDA(cuMemcpyDtoHAsync(back, second, bytes, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  for (std::size_t i = 0; i < data.size(); ++i)
    ASSERT_EQ(back[i], static_cast<int>(i));
}

TEST_F(Conformance, AnEventOrdersTwoStreams) {
  const CUdeviceptr memory = allocated(64);
  const CUstream writer = stream(), reader = stream();
  const CUevent written = event();
  int* const seen = pinned<int>(1);
  for (int round = 1; round <= 30; ++round) {
    EXPECT_CUDA(cuMemsetD32Async(memory, static_cast<unsigned>(round), 1, writer));
    EXPECT_CUDA(cuEventRecord(written, writer));
    EXPECT_CUDA(cuStreamWaitEvent(reader, written, 0));
    EXPECT_CUDA(cuMemcpyDtoHAsync(seen, memory, sizeof(int), reader));
    EXPECT_CUDA(cuStreamSynchronize(reader));
    ASSERT_EQ(*seen, round);
  }
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(Conformance, AStreamWaitsForAHostFlag) {
  volatile int* const words = pinned<int>(2);
  words[0] = 0;
  words[1] = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(words);
  const CUstream one = stream();
  EXPECT_CUDA(cuStreamWaitValue32(one, address, 5, CU_STREAM_WAIT_VALUE_GEQ));
  EXPECT_CUDA(cuStreamWriteValue32(one, address + 4, 9, 0));
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  EXPECT_EQ(words[1], 0);
  EXPECT_CUDA_ERROR(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  words[0] = 6;
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(words[1], 9);
}

TEST_F(Conformance, TheLegacyStreamIsOrderedWithBlockingStreamsOnly) {
  const CUdeviceptr memory = allocated(64);
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  const CUstream blocking = stream(CU_STREAM_DEFAULT), other = stream();
  EXPECT_CUDA(cuStreamWaitValue32(blocking, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, blocking));
  EXPECT_CUDA(cuMemsetD32Async(memory, 2, 1, nullptr));
  EXPECT_CUDA(cuMemsetD32Async(memory + 4, 3, 1, blocking));
  EXPECT_CUDA(cuMemsetD32Async(memory + 8, 4, 1, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_CUDA_ERROR(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
  *flag = 1;
  EXPECT_CUDA(cuStreamSynchronize(blocking));
  EXPECT_EQ(first_word(memory), 2);
  EXPECT_EQ(first_word(memory + 4), 3);
  EXPECT_EQ(first_word(memory + 8), 4);
}

TEST_F(Conformance, AFreedAddressComesBackWithAnotherBufferId) {
  const auto id_of = [](CUdeviceptr pointer) {
    unsigned long long id = 0;
    EXPECT_CUDA(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, pointer));
    return id;
  };
  const CUdeviceptr first = allocated(40960);
  const unsigned long long id = id_of(first);
  EXPECT_CUDA(cuMemFree(first));
  EXPECT_NE(id_of(allocated(40960)), id);
}

TEST_F(Conformance, AHandleOfItsOwnProcessCannotBeOpened) {
  CUipcMemHandle handle;
  EXPECT_CUDA(cuIpcGetMemHandle(&handle, allocated(4096)));
  CUdeviceptr pointer = 0;
  EXPECT_CUDA_ERROR(cuIpcOpenMemHandle(&pointer, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                    CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Conformance, PoolMemoryHasNoLegacyHandle) {
  const CUstream one = stream();
  CUdeviceptr pointer = 0;
  CUipcMemHandle handle;
  EXPECT_CUDA(cuMemAllocAsync(&pointer, 4096, one));
  EXPECT_CUDA_ERROR(cuIpcGetMemHandle(&handle, pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFreeAsync(pointer, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
}

TEST_F(Conformance, MappedMemoryIsSharedByAFileDescriptor) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  const CUmemAccessDesc access{properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  std::size_t bytes = 0;
  EXPECT_CUDA(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  const auto mapped = [&](CUmemGenericAllocationHandle handle) {
    CUdeviceptr pointer = 0;
    EXPECT_CUDA(cuMemAddressReserve(&pointer, bytes, 0, 0, 0));
    EXPECT_CUDA(cuMemMap(pointer, bytes, 0, handle, 0));
    EXPECT_CUDA(cuMemSetAccess(pointer, bytes, &access, 1));
    return pointer;
  };
  CUmemGenericAllocationHandle made = 0, imported = 0;
  EXPECT_CUDA(cuMemCreate(&made, bytes, &properties, 0));
  std::int64_t file = 0;
  EXPECT_CUDA(cuMemExportToShareableHandle(&file, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  EXPECT_CUDA(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(file),
                                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  const CUdeviceptr here = mapped(made), there = mapped(imported);
  EXPECT_CUDA(cuMemsetD32(here, 77, 10));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(first_word(there), 77);
  for (const CUdeviceptr pointer : {here, there})
    EXPECT_CUDA(cuMemUnmap(pointer, bytes));
}

TEST_F(Conformance, AKernelOutOfBoundsLosesTheContext) {
  const CUdeviceptr memory = allocated(64);
  EXPECT_CUDA(cuMemcpyDtoD(memory, memory + 32, 32));
  EXPECT_CUDA(launch(function_of(module_of(store)), memory + (std::uint64_t{1} << 40), nullptr));
  EXPECT_CUDA_ERROR(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr other = 0;
  EXPECT_CUDA_ERROR(cuMemAlloc(&other, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace fake_cuda
