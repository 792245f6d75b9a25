// Entry points: memory of devices, managed and pinned.
#include <sys/mman.h>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

using namespace fake_cuda;

namespace {

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uint64_t>(data); }

CUresult allocate(Context* context, CUdeviceptr* pointer, std::size_t bytes) {
  FAKE_CUDA_REQUIRE(pointer != nullptr);
  RegionPointer region;
  const CUresult result = Memory::get().allocate(context, context->device, bytes, RegionKind::device, region);
  if (result == CUDA_SUCCESS) *pointer = region->base;
  return result;
}

void* host_pages(std::size_t bytes) {
  void* const pages = ::mmap(nullptr, rounded(bytes, page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

/// The region of that kind that begins at the address.
RegionPointer region_at(std::uint64_t address, RegionKind kind) {
  RegionPointer region = Memory::get().find(address);
  return region != nullptr && region->base == address && region->kind == kind ? region : nullptr;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuMemAlloc(CUdeviceptr* pointer, std::size_t bytes) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAlloc");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  may_block("cuMemAlloc", context);
  return allocate(context, pointer, bytes);
}
FAKE_CUDA_EXPORT CUresult cuMemAllocPitch(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width,
                                          std::size_t height, unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAllocPitch");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  may_block("cuMemAllocPitch", context);
  *pitch = rounded(width, 512);
  return allocate(context, pointer, *pitch * height);
}
FAKE_CUDA_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuMemAllocManaged");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  FAKE_CUDA_REQUIRE(pointer != nullptr && bytes != 0);
  may_block("cuMemAllocManaged", context);
  void* const pages = host_pages(bytes);
  RegionPointer region;
  if (pages == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  *pointer = address_of(pages);
  return Memory::get().add_host(context, pages, bytes, RegionKind::managed, flags, region);
}
FAKE_CUDA_EXPORT CUresult cuMemFree(CUdeviceptr pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuMemFree");
  if (pointer == 0) return CUDA_SUCCESS;
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  RegionPointer region = Memory::get().find(pointer);
  FAKE_CUDA_REQUIRE(region != nullptr && region->base == pointer);
  FAKE_CUDA_REQUIRE(region->kind == RegionKind::device || region->kind == RegionKind::pool ||
                    region->kind == RegionKind::managed);
  FAKE_CUDA_REQUIRE(!region->is_being_freed);
  if (region->kind != RegionKind::pool) {  // which is freed without any wait
    may_synchronise("cuMemFree", region->context);
    Streams::get().drain(region->context);
  }
  check_importers("cuMemFree", *region);
  Memory::get().free(region);
  if (region->kind == RegionKind::managed) ::munmap(region->bytes, region->mapped);
  return context->lost;
}
FAKE_CUDA_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuMemGetAddressRange");
  const RegionPointer region = Memory::get().find(pointer);
  if (region == nullptr || region->kind == RegionKind::registered) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = region->base;
  if (bytes != nullptr) *bytes = region->size;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuMemHostAlloc");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  FAKE_CUDA_REQUIRE(pointer != nullptr && bytes != 0);
  may_block("cuMemHostAlloc", context);
  *pointer = host_pages(bytes);
  RegionPointer region;
  if (*pointer == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  return Memory::get().add_host(context, *pointer, bytes, RegionKind::pinned, flags, region);
}
FAKE_CUDA_EXPORT CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}
FAKE_CUDA_EXPORT CUresult cuMemFreeHost(void* pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuMemFreeHost");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  const RegionPointer region = region_at(address_of(pointer), RegionKind::pinned);
  FAKE_CUDA_REQUIRE(region != nullptr);
  may_synchronise("cuMemFreeHost", region->context);
  Streams::get().drain(region->context);
  Memory::get().remove(region);
  ::munmap(region->bytes, region->mapped);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuMemHostRegister");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  FAKE_CUDA_REQUIRE(pointer != nullptr && bytes != 0);
  may_block("cuMemHostRegister", context);
  RegionPointer region;
  return Memory::get().add_host(context, pointer, bytes, RegionKind::registered, flags, region);
}
FAKE_CUDA_EXPORT CUresult cuMemHostUnregister(void* pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuMemHostUnregister");
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  const RegionPointer region = region_at(address_of(pointer), RegionKind::registered);
  if (region == nullptr) return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  may_synchronise("cuMemHostUnregister", region->context);
  Streams::get().drain(region->context);
  Memory::get().remove(region);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr* device, void* pointer, unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuMemHostGetDevicePointer");
  const RegionPointer region = Memory::get().find(address_of(pointer));
  FAKE_CUDA_REQUIRE(region != nullptr && !region->is_on_device());
  const bool is_elsewhere = region->kind == RegionKind::registered && !settings().maps_registered_memory;
  FAKE_CUDA_REQUIRE(!is_elsewhere || region->device_base != 0);
  *device = is_elsewhere ? region->device_base + (address_of(pointer) - region->base) : address_of(pointer);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  FAKE_CUDA_CONTEXT_CALL("cuMemHostGetFlags");
  const RegionPointer region = region_at(address_of(pointer), RegionKind::pinned);
  FAKE_CUDA_REQUIRE(region != nullptr);
  *flags = region->flags;
  return CUDA_SUCCESS;
}
