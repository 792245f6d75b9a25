// Entry points: pools of memory, whose allocations are ordered by streams.
#include <unistd.h>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/pool.hpp"
#include "tests/fake_cuda/driver/posting.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/ticket.hpp"

using namespace fake_cuda;

namespace {

/// The pool of a handle, or the end of the entry point.
#define FAKE_CUDA_POOL(handle)                        \
  const PoolPointer pool = Pools::get().find(handle); \
  FAKE_CUDA_REQUIRE(pool != nullptr)

CUresult allocate(Context* context, CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool_handle,
                  CUstream stream) {
  FAKE_CUDA_POOL(pool_handle);
  FAKE_CUDA_REQUIRE(pointer != nullptr && !pool->is_imported);
  RegionPointer region;
  StreamPointer into;
  if (const CUresult bad = find_stream(context, stream, into); bad != CUDA_SUCCESS) return bad;
  if (const CUresult bad = Captures::get().not_modelled(into); bad != CUDA_SUCCESS) return bad;
  const CUresult result = Memory::get().allocate(context, pool->card.device, bytes, RegionKind::pool, region);
  if (result != CUDA_SUCCESS) return result;
  region->pool = pool;
  *pointer = region->base;
  return enqueue(context, stream, {.work = [] {}, .what = {"allocate", bytes}});
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  FAKE_CUDA_CALL("cuDeviceGetDefaultMemPool");
  if (!Contexts::get().has(device)) return CUDA_ERROR_INVALID_DEVICE;
  *pool = Pools::get().default_of(device);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return cuDeviceGetDefaultMemPool(pool, device);
}
FAKE_CUDA_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  FAKE_CUDA_CALL("cuMemPoolCreate");
  FAKE_CUDA_REQUIRE(pool != nullptr && properties != nullptr && Contexts::get().has(properties->location.id));
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  if ((static_cast<unsigned>(properties->handleTypes) & ~handle_types()) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  *pool = Pools::get().create(properties->location.id, properties->handleTypes);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  FAKE_CUDA_CALL("cuMemPoolDestroy");
  return Pools::get().destroy(pool) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* access, std::size_t count) {
  FAKE_CUDA_CALL("cuMemPoolSetAccess");
  FAKE_CUDA_POOL(handle);
  for (std::size_t i = 0; i < count; ++i)
    Pools::get().set_access(*pool, access[i].location.id, access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool handle, CUmemLocation* location) {
  FAKE_CUDA_CALL("cuMemPoolGetAccess");
  FAKE_CUDA_POOL(handle);
  const bool has = Pools::get().has_access(*pool, location->id);
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
FAKE_CUDA_EXPORT CUresult cuMemPoolExportToShareableHandle(void* out, CUmemoryPool handle,
                                                           CUmemAllocationHandleType type, unsigned long long) {
  FAKE_CUDA_CALL("cuMemPoolExportToShareableHandle");
  FAKE_CUDA_POOL(handle);
  FAKE_CUDA_REQUIRE(out != nullptr && !pool->is_imported && (pool->card.types & type) != 0);
  const int file = Pools::get().export_card(*pool);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (type == CU_MEM_HANDLE_TYPE_FABRIC)
    write(static_cast<CUmemFabricHandle*>(out), {.magic = Ticket::of_pool,
                                                 .owner = ::getpid(),
                                                 .file = file,
                                                 .device = pool->card.device,
                                                 .maker = pool->card.maker,
                                                 .id = pool->card.id});
  else
    *static_cast<int*>(out) = ::dup(file);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* in,
                                                             CUmemAllocationHandleType type, unsigned long long) {
  FAKE_CUDA_CALL("cuMemPoolImportFromShareableHandle");
  FAKE_CUDA_REQUIRE(pool != nullptr);
  if ((static_cast<unsigned>(type) & handle_types()) == 0) return CUDA_ERROR_NOT_SUPPORTED;
  const bool is_fabric = type == CU_MEM_HANDLE_TYPE_FABRIC;
  const int file = is_fabric ? open_file(read(*static_cast<const CUmemFabricHandle*>(in)))
                             : ::dup(static_cast<int>(reinterpret_cast<std::intptr_t>(in)));
  PoolCard card;
  const bool is_right = ::pread(file, &card, sizeof card, 0) == sizeof card && card.magic == PoolCard::right_magic &&
                        Contexts::get().has(card.device);
  if (file >= 0) ::close(file);
  FAKE_CUDA_REQUIRE(is_right);
  *pool = Pools::get().import(card);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  FAKE_CUDA_CALL("cuMemPoolExportPointer");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(data != nullptr && region != nullptr && region->kind == RegionKind::pool && !region->is_imported);
  const PoolPointer pool = region->pool;
  FAKE_CUDA_REQUIRE(pool->card.types != CU_MEM_HANDLE_TYPE_NONE);
  region->header->is_exported = 1;
  write(data, {.magic = Ticket::of_pool_memory,
               .owner = ::getpid(),
               .file = region->file,
               .device = region->device,
               .maker = static_cast<int>(pool->card.id),
               .bytes = region->size,
               .base = region->base,
               .id = region->header->id});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool handle,
                                                 CUmemPoolPtrExportData* data) {
  FAKE_CUDA_CALL("cuMemPoolImportPointer");
  FAKE_CUDA_POOL(handle);
  FAKE_CUDA_REQUIRE(pointer != nullptr && data != nullptr && pool->is_imported);
  const Ticket ticket = read(*data);
  FAKE_CUDA_REQUIRE(ticket.magic == Ticket::of_pool_memory && ticket.owner == pool->card.maker &&
                    static_cast<std::uint64_t>(ticket.maker) == pool->card.id);
  const RegionPointer region = map_memory(ticket, &Contexts::get().primary(pool->card.device), RegionKind::pool);
  FAKE_CUDA_REQUIRE(region != nullptr);
  region->pool = pool;
  region->device = pool->card.device;
  Memory::get().add(region);
  *pointer = region->base;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                                  CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAllocFromPoolAsync");
  return allocate(context, pointer, bytes, pool, stream);
}
FAKE_CUDA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAllocAsync");
  return allocate(context, pointer, bytes, Pools::get().default_of(context->device), stream);
}
FAKE_CUDA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  FAKE_CUDA_CONTEXT_CALL("cuMemFreeAsync");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->base == pointer);
  FAKE_CUDA_REQUIRE(region->kind == RegionKind::pool || region->kind == RegionKind::device);
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
