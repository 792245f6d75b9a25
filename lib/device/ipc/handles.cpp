#include "lib/device/ipc/handles.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "lib/device/driver/driver.hpp"

namespace tutti::ipc {
namespace {

using cuda::driver;

using cuda::address;

constexpr std::int64_t block_bytes = std::int64_t{2} << 20;

/// The kinds of handles that an allocation has.
struct Allowed {
  bool legacy = false;
  std::uint64_t types = 0;
};
Allowed allowed(const std::byte* data) {
  unsigned is_legacy = 0;
  unsigned long long types = 0;
  std::array which{CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES};
  std::array<void*, which.size()> values{&is_legacy, &types};
  if (driver()->PointerGetAttributes(which.size(), which.data(), values.data(), address(data)) != CUDA_SUCCESS)
    return {};
  return {is_legacy != 0, types};
}

/// The handle of memory of cuMemCreate; a pool's has none of its own.
Handle shareable_handle(const Allocation& allocation, std::uint64_t types) {
  Handle handle;
  CUmemGenericAllocationHandle memory = 0;
  if (driver()->MemRetainAllocationHandle(&memory, const_cast<std::byte*>(allocation.begin)) != CUDA_SUCCESS)
    return handle;
  int file = -1;
  if ((types & CU_MEM_HANDLE_TYPE_FABRIC) != 0 &&
      driver()->MemExportToShareableHandle(handle.bytes.data(), memory, CU_MEM_HANDLE_TYPE_FABRIC, 0) == CUDA_SUCCESS)
    handle.means = Means::fabric;
  if ((types & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 &&
      driver()->MemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) ==
          CUDA_SUCCESS) {
    handle.means = handle.means == Means::fabric ? Means::fabric_or_descriptor : Means::descriptor;
    handle.descriptor = shm::Descriptor{file};
  }
  static_cast<void>(driver()->MemRelease(memory));
  return handle;
}

CUresult map_legacy(const Handle& handle, std::int64_t bytes, Mapping& mapping) {
  CUipcMemHandle legacy{};
  static_assert(sizeof legacy == sizeof handle.bytes);
  std::memcpy(&legacy, handle.bytes.data(), sizeof legacy);
  mapping = {.bytes = bytes, .means = Means::legacy};
  const CUresult result = driver()->IpcOpenMemHandle(&mapping.opened, legacy, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
  mapping.address = mapping.opened;
  if (result != CUDA_SUCCESS || handle.in_block == 0 || bytes >= block_bytes) return result;
  const auto* const opened = std::bit_cast<const std::byte*>(mapping.opened);
  const Allocation range = allocation_of(opened);
  const bool is_block = range.begin == opened && range.end - range.begin != bytes;
  if (is_block && handle.in_block + bytes <= range.end - range.begin)
    mapping.address += static_cast<CUdeviceptr>(handle.in_block);
  return CUDA_SUCCESS;
}

CUresult map_shareable(const Handle& handle, std::int64_t bytes, CUdevice device, Mapping& mapping) {
  const bool is_fabric = handle.means != Means::descriptor;
  void* const from = is_fabric ? const_cast<std::byte*>(handle.bytes.data())
                               : reinterpret_cast<void*>(std::intptr_t{handle.descriptor.get()});
  CUmemGenericAllocationHandle memory = 0;
  if (driver()->MemImportFromShareableHandle(
          &memory, from, is_fabric ? CU_MEM_HANDLE_TYPE_FABRIC : CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) !=
      CUDA_SUCCESS)
    return CUDA_ERROR_NOT_SUPPORTED;
  const auto size = static_cast<std::size_t>(bytes);
  mapping = {.bytes = bytes, .means = handle.means};
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = device;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const bool has_addresses = driver()->MemAddressReserve(&mapping.address, size, 0, 0, 0) == CUDA_SUCCESS;
  const bool is_mapped = has_addresses && driver()->MemMap(mapping.address, size, 0, memory, 0) == CUDA_SUCCESS;
  const bool is_usable = is_mapped && driver()->MemSetAccess(mapping.address, size, &access, 1) == CUDA_SUCCESS;
  static_cast<void>(driver()->MemRelease(memory));  // the mapping keeps it
  mapping.opened = mapping.address;
  if (is_usable) return CUDA_SUCCESS;
  if (is_mapped) static_cast<void>(driver()->MemUnmap(mapping.address, size));
  if (has_addresses) static_cast<void>(driver()->MemAddressFree(mapping.address, size));
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

Handle handle_of(const Allocation& allocation) {
  const auto [is_legacy, types] = allowed(allocation.begin);
  if (!is_legacy) return shareable_handle(allocation, types);
  CUipcMemHandle legacy{};
  if (driver()->IpcGetMemHandle(&legacy, address(allocation.begin)) != CUDA_SUCCESS) return {};
  Handle handle{.means = Means::legacy, .in_block = std::bit_cast<std::int64_t>(allocation.begin) % block_bytes};
  std::memcpy(handle.bytes.data(), &legacy, sizeof legacy);
  return handle;
}

CUresult map(const Handle& handle, std::int64_t bytes, CUdevice device, Mapping& mapping) {
  if (handle.means == Means::none) return CUDA_ERROR_NOT_SUPPORTED;
  return handle.means == Means::legacy ? map_legacy(handle, bytes, mapping)
                                       : map_shareable(handle, bytes, device, mapping);
}

void unmap(const Mapping& mapping) noexcept {
  if (mapping.means == Means::legacy) {
    static_cast<void>(driver()->IpcCloseMemHandle(mapping.opened));
    return;
  }
  const auto size = static_cast<std::size_t>(mapping.bytes);
  static_cast<void>(driver()->MemUnmap(mapping.address, size));
  static_cast<void>(driver()->MemAddressFree(mapping.address, size));
}

}  // namespace tutti::ipc
