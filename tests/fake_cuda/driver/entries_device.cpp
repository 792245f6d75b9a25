// Entry points: initialisation, devices, contexts.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"
#include "tests/fake_cuda/driver/ticket.hpp"

using namespace fake_cuda;

namespace {

constexpr unsigned first_bus = 0xf0;

int attribute(CUdevice_attribute which, int device) {
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 48 << 10;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 64 << 10;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1000000;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return settings().multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return settings().capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return settings().capability % 10;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return static_cast<int>(first_bus) + device;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 2;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 4096;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
      return settings().maps_registered_memory ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
      return settings().has_stream_memory_operations ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
      return settings().has_fabric ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
      return static_cast<int>(handle_types());
    default:  // GPUDirect RDMA, dma-buf, multicast, cooperative launch: there is none
      return 0;
  }
}

CUresult checked(int device) { return Contexts::get().has(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

/// Everything that the context had goes.
void destroy_contents(Context* context) {
  Captures::get().forget(context);
  context->lost = CUDA_ERROR_CONTEXT_IS_DESTROYED;  // so that no operation waits any more
  Streams::get().drain(context);
  const auto is_its = [&](const Region& region) {
    return region.context == context && (region.kind == RegionKind::device || region.kind == RegionKind::pool);
  };
  for (const RegionPointer& region : Memory::get().all(is_its))
    Memory::get().free(region);
  const std::lock_guard lock{context->peers_mutex};
  context->peers.clear();
}

}  // namespace

#define FAKE_CUDA_DEVICE_CALL(name, device) \
  FAKE_CUDA_CALL(name);                     \
  if (const CUresult bad = checked(device); bad != CUDA_SUCCESS) return bad

FAKE_CUDA_EXPORT CUresult cuInit(unsigned flags) {
  FAKE_CUDA_REQUIRE(flags == 0);
  if (Contexts::get().is_initialised()) return CUDA_SUCCESS;
  std::this_thread::sleep_for(std::chrono::milliseconds{settings().start_ms});
  if (!Contexts::get().initialise()) return CUDA_ERROR_NO_DEVICE;
  watch_for_host_access();
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDriverGetVersion(int* version) {
  FAKE_CUDA_REQUIRE(version != nullptr);
  *version = driver_version;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDeviceGetCount(int* count) {
  FAKE_CUDA_CALL("cuDeviceGetCount");
  FAKE_CUDA_REQUIRE(count != nullptr);
  *count = Contexts::get().devices();
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGet(CUdevice* device, int number) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceGet", number);
  *device = number;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceGetName", device);
  std::snprintf(name, static_cast<std::size_t>(bytes), "Fake CUDA device %d", device);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceGetUuid", device);
  std::memset(uuid, 0xfa, sizeof *uuid);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceTotalMem", device);
  *bytes = settings().memory_bytes;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  FAKE_CUDA_CONTEXT_CALL("cuMemGetInfo");
  *total = settings().memory_bytes;
  *free = *total - Memory::get().bytes_in_use();
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceGetAttribute", device);
  *value = attribute(which, device);
  log(2, "device attribute %d: %d", static_cast<int>(which), *value);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceGetPCIBusId", device);
  std::snprintf(id, static_cast<std::size_t>(bytes), "0000:%02X:00.0", first_bus + static_cast<unsigned>(device));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  FAKE_CUDA_CALL("cuDeviceGetByPCIBusId");
  unsigned domain = 0, bus = 0;
  if (std::sscanf(id, "%x:%x", &domain, &bus) != 2 || bus < first_bus) return CUDA_ERROR_INVALID_DEVICE;
  *device = static_cast<int>(bus - first_bus);
  return checked(*device);
}
FAKE_CUDA_EXPORT CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceCanAccessPeer", device);
  if (const CUresult bad = checked(peer); bad != CUDA_SUCCESS) return bad;
  *can = device != peer && settings().has_peers ? 1 : 0;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute which, CUdevice device,
                                                  CUdevice peer) {
  FAKE_CUDA_DEVICE_CALL("cuDeviceGetP2PAttribute", device);
  if (checked(peer) != CUDA_SUCCESS || device == peer) return CUDA_ERROR_INVALID_DEVICE;
  *value = which != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK && settings().has_peers ? 1 : 0;
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDevicePrimaryCtxRetain", device);
  Contexts::get().retain(device);
  *context = handle_of(&Contexts::get().primary(device));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDevicePrimaryCtxRelease", device);
  Context& context = Contexts::get().primary(device);
  if (context.retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (context.retained == 1) destroy_contents(&context);
  if (Contexts::get().release(device)) context.lost = CUDA_SUCCESS;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuDevicePrimaryCtxReset", device);
  Context& context = Contexts::get().primary(device);
  destroy_contents(&context);
  context.lost = CUDA_SUCCESS;
  if (context.retained > 0) context.id = Contexts::get().new_id();
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  FAKE_CUDA_DEVICE_CALL("cuDevicePrimaryCtxGetState", device);
  *flags = Contexts::get().primary(device).flags;
  *is_active = Contexts::get().primary(device).retained > 0 ? 1 : 0;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  FAKE_CUDA_DEVICE_CALL("cuDevicePrimaryCtxSetFlags", device);
  Contexts::get().primary(device).flags = flags;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams*, unsigned flags, CUdevice device) {
  FAKE_CUDA_DEVICE_CALL("cuCtxCreate", device);
  current_contexts.push(Contexts::get().create(device, flags));
  *context = handle_of(current_contexts.top());
  return CUDA_SUCCESS;
}
#undef cuCtxCreate
FAKE_CUDA_EXPORT CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return cuCtxCreate_v4(context, nullptr, flags, device);
}
FAKE_CUDA_EXPORT CUresult cuCtxDestroy(CUcontext handle) {
  FAKE_CUDA_CALL("cuCtxDestroy");
  FAKE_CUDA_REQUIRE(handle != nullptr);
  destroy_contents(context_of(handle));
  context_of(handle)->retained = 0;
  if (current_contexts.top() == context_of(handle)) current_contexts.pop();
  return CUDA_SUCCESS;
}
