// Entry points: pools of memory, whose allocations are ordered by streams.
#include <map>
#include <mutex>
#include <set>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/pool.hpp"
#include "tests/fake_cuda/driver/posting.hpp"
#include "tests/fake_cuda/driver/region.hpp"

using namespace fake_cuda;

namespace {

struct Pools {
  std::mutex mutex;
  std::map<CUmemoryPool, int> devices;
  std::map<CUmemoryPool, std::set<int>> peers;
  std::uint64_t next = 0x40000;
};
Pools& pools() {
  static Pools* const all = new Pools;
  return *all;
}

CUmemoryPool default_pool(int device) { return reinterpret_cast<CUmemoryPool>(0x1000 + std::int64_t{device}); }

int device_of(CUmemoryPool pool) {
  const std::lock_guard lock{pools().mutex};
  const auto made = pools().devices.find(pool);
  return made != pools().devices.end() ? made->second : static_cast<int>(reinterpret_cast<std::int64_t>(pool) - 0x1000);
}

CUresult allocate(Context* context, CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  RegionPointer region;
  StreamPointer into;
  if (const CUresult bad = find_stream(context, stream, into); bad != CUDA_SUCCESS) return bad;
  if (const CUresult bad = Captures::get().not_modelled(into); bad != CUDA_SUCCESS) return bad;
  const CUresult result = Memory::get().allocate(context, device_of(pool), bytes, Kind::pool, region);
  if (result != CUDA_SUCCESS) return result;
  region->pool = pool;
  *pointer = region->base;
  return enqueue(context, stream, {.work = [] {}, .what = {"allocate", bytes}});
}

}  // namespace

bool fake_cuda::pool_reaches(CUmemoryPool pool, int device) {
  const std::lock_guard lock{pools().mutex};
  return pools().peers[pool].contains(device);
}

FAKE_CUDA_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  FAKE_CUDA_CALL("cuDeviceGetDefaultMemPool");
  if (!Contexts::get().has(device)) return CUDA_ERROR_INVALID_DEVICE;
  *pool = default_pool(device);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}
FAKE_CUDA_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  FAKE_CUDA_CALL("cuMemPoolCreate");
  if ((properties->handleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  const std::lock_guard lock{pools().mutex};
  pools().next += 16;
  *pool = reinterpret_cast<CUmemoryPool>(pools().next);
  pools().devices[*pool] = properties->location.id;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  FAKE_CUDA_CALL("cuMemPoolDestroy");
  const std::lock_guard lock{pools().mutex};
  return pools().devices.erase(pool) == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* access, std::size_t count) {
  FAKE_CUDA_CALL("cuMemPoolSetAccess");
  const std::lock_guard lock{pools().mutex};
  for (std::size_t i = 0; i < count; ++i) {
    if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      pools().peers[pool].insert(access[i].location.id);
    else
      pools().peers[pool].erase(access[i].location.id);
  }
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  FAKE_CUDA_CALL("cuMemPoolGetAccess");
  const bool has = device_of(pool) == location->id || pool_reaches(pool, location->id);
  *flags = has ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute, void*) {
  FAKE_CUDA_CALL("cuMemPoolSetAttribute");
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool, std::size_t) {
  FAKE_CUDA_CALL("cuMemPoolTrimTo");
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolExportToShareableHandle(void*, CUmemoryPool, CUmemAllocationHandleType,
                                                           unsigned long long) {
  FAKE_CUDA_CALL("cuMemPoolExportToShareableHandle");
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool*, void*, CUmemAllocationHandleType,
                                                             unsigned long long) {
  FAKE_CUDA_CALL("cuMemPoolImportFromShareableHandle");
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData*, CUdeviceptr) {
  FAKE_CUDA_CALL("cuMemPoolExportPointer");
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr*, CUmemoryPool, CUmemPoolPtrExportData*) {
  FAKE_CUDA_CALL("cuMemPoolImportPointer");
  return CUDA_ERROR_NOT_SUPPORTED;
}
FAKE_CUDA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                                  CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAllocFromPoolAsync");
  FAKE_CUDA_REQUIRE(pointer != nullptr);
  return allocate(context, pointer, bytes, pool, stream);
}
FAKE_CUDA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAllocAsync");
  FAKE_CUDA_REQUIRE(pointer != nullptr);
  return allocate(context, pointer, bytes, default_pool(context->device), stream);
}
FAKE_CUDA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemFreeAsync");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->base == pointer);
  FAKE_CUDA_REQUIRE(region->kind == Kind::pool || region->kind == Kind::device);
  FAKE_CUDA_REQUIRE(!region->is_being_freed);
  StreamPointer into;
  if (const CUresult bad = find_stream(context, stream, into); bad != CUDA_SUCCESS) return bad;
  if (const CUresult bad = Captures::get().refuse(into); bad != CUDA_SUCCESS) return bad;  // no memory of a graph
  region->is_being_freed = true;
  return enqueue(context, stream,
                 {.work =
                      [region] {
                        check_importers("cuMemFreeAsync", *region);
                        Memory::get().free(region);
                      },
                  .what = {"free", region->size}});
}
