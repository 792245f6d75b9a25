// Entry points: virtual memory management, with POSIX file descriptors and fabric handles.
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/stream.hpp"
#include "tests/fake_cuda/driver/ticket.hpp"

using namespace fake_cuda;

namespace {

using Handle = CUmemGenericAllocationHandle;

struct Allocations {
  std::mutex mutex;
  std::map<Handle, std::shared_ptr<Physical>> by_handle;
  Handle next = 0x30000;

  Handle add(std::shared_ptr<Physical> physical) {
    const std::lock_guard lock{mutex};
    next += 16;
    by_handle[next] = std::move(physical);
    return next;
  }
  std::shared_ptr<Physical> find(Handle handle) {
    const std::lock_guard lock{mutex};
    const auto found = by_handle.find(handle);
    return found == by_handle.end() ? nullptr : found->second;
  }
};
Allocations& allocations() {
  static Allocations* const all = new Allocations;
  return *all;
}

RegionPointer mapping_at(CUdeviceptr pointer) {
  RegionPointer region = Memory::get().find(pointer);
  return region != nullptr && region->kind == RegionKind::vmm ? region : nullptr;
}

Ticket fabric_ticket(int file) {
  const FileIdentity identity = identity_of_file(file);
  return {.magic = Ticket::of_fabric,
          .owner = ::getpid(),
          .file = file,
          .device = identity.device,
          .maker = identity.owner,
          .id = identity.id};
}

/// -1: the memory is gone; the descriptor may be another file's then.
int open_fabric(const Ticket& ticket) {
  const int file = ticket.magic == Ticket::of_fabric ? open_file(ticket) : -1;
  if (file < 0 || identity_of_file(file) == FileIdentity{ticket.id, ticket.device, ticket.maker}) return file;
  ::close(file);
  return -1;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                                        CUmemAllocationGranularity_flags) {
  FAKE_CUDA_CALL("cuMemGetAllocationGranularity");
  *bytes = granule;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemCreate(Handle* handle, std::size_t bytes, const CUmemAllocationProp* properties,
                                      unsigned long long) {
  FAKE_CUDA_CALL("cuMemCreate");
  FAKE_CUDA_REQUIRE(bytes != 0 && bytes % granule == 0 && properties != nullptr);
  FAKE_CUDA_REQUIRE(properties->type == CU_MEM_ALLOCATION_TYPE_PINNED);
  if ((static_cast<unsigned>(properties->requestedHandleTypes) & ~handle_types()) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (!Contexts::get().has(properties->location.id)) return CUDA_ERROR_INVALID_DEVICE;
  auto physical = std::make_shared<Physical>();
  physical->file = make_file(bytes, properties->location.id);
  if (physical->file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  physical->bytes = bytes;
  physical->device = properties->location.id;
  physical->properties = *properties;
  *handle = allocations().add(std::move(physical));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemRelease(Handle handle) {
  FAKE_CUDA_CALL("cuMemRelease");
  const std::lock_guard lock{allocations().mutex};
  const auto found = allocations().by_handle.find(handle);
  FAKE_CUDA_REQUIRE(found != allocations().by_handle.end());
  if (--found->second->references == 0) allocations().by_handle.erase(found);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* pointer, std::size_t bytes, std::size_t, CUdeviceptr,
                                              unsigned long long) {
  FAKE_CUDA_CALL("cuMemAddressReserve");
  FAKE_CUDA_REQUIRE(pointer != nullptr && bytes != 0 && bytes % granule == 0);
  *pointer = Memory::get().reserve_addresses(bytes);
  if (*pointer == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  Memory::get().reserve(*pointer, bytes);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemAddressFree(CUdeviceptr pointer, std::size_t bytes) {
  FAKE_CUDA_CALL("cuMemAddressFree");
  return Memory::get().unreserve(pointer, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE_CUDA_EXPORT CUresult cuMemMap(CUdeviceptr pointer, std::size_t bytes, std::size_t offset, Handle handle,
                                   unsigned long long) {
  FAKE_CUDA_CALL("cuMemMap");
  const std::shared_ptr<Physical> physical = allocations().find(handle);
  FAKE_CUDA_REQUIRE(physical != nullptr && offset == 0 && bytes == physical->bytes);
  FAKE_CUDA_REQUIRE(Memory::get().find(pointer) == nullptr && Memory::get().is_reserved(pointer, bytes));
  const RegionPointer region = map_file(physical->file, pointer, bytes, bytes, RegionKind::vmm);
  if (region == nullptr) return CUDA_ERROR_MAP_FAILED;
  region->physical = physical;
  region->device = physical->device;
  region->context = &Contexts::get().primary(physical->device);
  Memory::get().add(region);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, std::size_t bytes) {
  FAKE_CUDA_CALL("cuMemUnmap");
  const RegionPointer region = mapping_at(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->base == pointer && region->size == bytes);
  may_synchronise("cuMemUnmap", region->context);
  Streams::get().drain(region->context);
  Memory::get().remove(region);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemSetAccess(CUdeviceptr pointer, std::size_t, const CUmemAccessDesc* access,
                                         std::size_t count) {
  FAKE_CUDA_CALL("cuMemSetAccess");
  const RegionPointer region = mapping_at(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && access != nullptr && count > 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (access[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
      region->devices.insert(access[i].location.id);
    else
      region->devices.erase(access[i].location.id);
  }
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                                         CUdeviceptr pointer) {
  FAKE_CUDA_CALL("cuMemGetAccess");
  const RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(flags != nullptr && location != nullptr && region != nullptr && region->is_on_device());
  const bool has = region->kind != RegionKind::vmm || region->devices.contains(location->id);
  *flags = has ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : 0;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemRetainAllocationHandle(Handle* handle, void* pointer) {
  FAKE_CUDA_CALL("cuMemRetainAllocationHandle");
  const RegionPointer region = mapping_at(reinterpret_cast<CUdeviceptr>(pointer));
  FAKE_CUDA_REQUIRE(handle != nullptr && region != nullptr);  // not of cuMemAlloc: UCX tells them apart so
  {
    const std::lock_guard lock{allocations().mutex};
    for (const auto& [key, physical] : allocations().by_handle)
      if (physical == region->physical) {
        ++physical->references;
        *handle = key;
        return CUDA_SUCCESS;
      }
  }
  region->physical->references = 1;
  *handle = allocations().add(region->physical);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, Handle handle) {
  FAKE_CUDA_CALL("cuMemGetAllocationPropertiesFromHandle");
  const std::shared_ptr<Physical> physical = allocations().find(handle);
  FAKE_CUDA_REQUIRE(physical != nullptr);
  *properties = physical->properties;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemExportToShareableHandle(void* out, Handle handle, CUmemAllocationHandleType type,
                                                       unsigned long long) {
  FAKE_CUDA_CALL("cuMemExportToShareableHandle");
  if ((static_cast<unsigned>(type) & handle_types()) == 0) return CUDA_ERROR_NOT_SUPPORTED;
  const std::shared_ptr<Physical> physical = allocations().find(handle);
  FAKE_CUDA_REQUIRE(physical != nullptr && (physical->properties.requestedHandleTypes & type) != 0);
  if (type == CU_MEM_HANDLE_TYPE_FABRIC)
    write(static_cast<CUmemFabricHandle*>(out), fabric_ticket(physical->file));
  else
    *static_cast<int*>(out) = ::dup(physical->file);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemImportFromShareableHandle(Handle* handle, void* in, CUmemAllocationHandleType type) {
  FAKE_CUDA_CALL("cuMemImportFromShareableHandle");
  if ((static_cast<unsigned>(type) & handle_types()) == 0) return CUDA_ERROR_NOT_SUPPORTED;
  auto physical = std::make_shared<Physical>();
  physical->file = type == CU_MEM_HANDLE_TYPE_FABRIC ? open_fabric(read(*static_cast<const CUmemFabricHandle*>(in)))
                                                     : ::dup(static_cast<int>(reinterpret_cast<std::intptr_t>(in)));
  struct stat status {};
  if (physical->file < 0 || ::fstat(physical->file, &status) != 0) return CUDA_ERROR_INVALID_VALUE;
  physical->bytes = static_cast<std::size_t>(status.st_size) - header_bytes;
  physical->device = identity_of_file(physical->file).device;
  physical->properties.location.id = physical->device;
  physical->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  physical->properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  physical->properties.requestedHandleTypes = type;
  *handle = allocations().add(std::move(physical));
  return CUDA_SUCCESS;
}
