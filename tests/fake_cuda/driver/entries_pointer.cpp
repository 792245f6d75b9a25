// Entry points: attributes of pointers.
#include <cstring>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/pool.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

using namespace fake_cuda;

namespace {

template <class T>
CUresult put(void* out, T value) {
  std::memcpy(out, &value, sizeof value);
  return CUDA_SUCCESS;
}

/// The attributes of an address that no allocation has: the defaults.
CUresult attribute_of_unknown(void* out, CUpointer_attribute which) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(out, -2);
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(out, std::uint64_t{0});
    default:
      return put(out, 0U);
  }
}

/// The types of handles that cuMemExportToShareableHandle or cuMemPoolExportPointer may give.
std::uint64_t handle_types(const Region& region) {
  if (region.physical != nullptr) return static_cast<std::uint64_t>(region.physical->properties.requestedHandleTypes);
  return region.pool == nullptr ? 0 : static_cast<std::uint64_t>(region.pool->card.types);
}

CUresult attribute(void* out, CUpointer_attribute which, std::uint64_t address, Region& region) {
  const bool is_plain = region.kind != RegionKind::vmm && region.kind != RegionKind::pool;
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(out, is_plain ? handle_of(region.context) : nullptr);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(
          out, region.is_on_device() || region.kind == RegionKind::managed ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      put(out, region.is_on_device() ? 0 : address);
      return region.is_on_device() ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put(out, region.sync_memops ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(out, region.kind == RegionKind::vmm && !settings().numbers_mapped_memory ? 0 : region.id);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(out, region.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(out, region.kind == RegionKind::managed ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(out, region.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(out, region.kind == RegionKind::device ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put(out, region.base);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put(out, region.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(out, 1U);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put(out, handle_types(region));
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
      return put(out, 0U);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(out, region.kind != RegionKind::vmm || !region.devices.empty()
                          ? static_cast<unsigned>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE)
                          : 0U);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(out, region.pool == nullptr ? nullptr : region.pool->handle);
    default:
      log(1, "pointer attribute %d is asked for", static_cast<int>(which));
      return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuPointerGetAttribute(void* out, CUpointer_attribute which, CUdeviceptr pointer) {
  FAKE_CUDA_CALL("cuPointerGetAttribute");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(out != nullptr && region != nullptr);  // the plural call gives defaults for a plain host pointer
  return attribute(out, which, pointer, *region);
}
FAKE_CUDA_EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** out,
                                                 CUdeviceptr pointer) {
  FAKE_CUDA_CALL("cuPointerGetAttributes");
  if (const Context* const current = current_contexts.top(); current != nullptr && current->lost != CUDA_SUCCESS)
    return current->lost;  // errors of operations come with any call
  const RegionPointer region = Memory::get().find(pointer);
  for (unsigned i = 0; i < count; ++i) {
    const CUresult result =
        region == nullptr ? attribute_of_unknown(out[i], which[i]) : attribute(out[i], which[i], pointer, *region);
    if (result != CUDA_SUCCESS && which[i] != CU_POINTER_ATTRIBUTE_HOST_POINTER) return result;
  }
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  FAKE_CUDA_CALL("cuPointerSetAttribute");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && which == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
  region->sync_memops = *static_cast<const unsigned*>(value) != 0;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemRangeGetAttribute(void* out, std::size_t, CUmem_range_attribute which,
                                                 CUdeviceptr pointer, std::size_t) {
  FAKE_CUDA_CONTEXT_CALL("cuMemRangeGetAttribute");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->kind == RegionKind::managed);
  const bool is_location =
      which == CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION || which == CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION;
  return put(out, is_location ? -2 : 0);
}
FAKE_CUDA_EXPORT CUresult cuMemGetHandleForAddressRange(void*, CUdeviceptr, std::size_t, CUmemRangeHandleType,
                                                        unsigned long long) {
  FAKE_CUDA_CALL("cuMemGetHandleForAddressRange");
  return CUDA_ERROR_NOT_SUPPORTED;
}
