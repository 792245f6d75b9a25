#pragma once
// Every function of the CUDA driver that the library calls, found when the program runs.

#include <cuda.h>

#include <bit>
#include <cstddef>
#include <string>

namespace tutti::cuda {

/// An address as the driver takes it.
[[nodiscard]] inline CUdeviceptr address(const void* data) { return std::bit_cast<CUdeviceptr>(data); }

/// The version whose signatures the table has: drivers from this one on give them.
inline constexpr int driver_version = 12000;

// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define TUTTI_CUDA_FUNCTION(name) decltype(&::cu##name) name = nullptr

/// Called as `driver()->PointerGetAttributes(...)`. No function is null, but for those said to be optional.
struct Driver {
  TUTTI_CUDA_FUNCTION(Init);
  TUTTI_CUDA_FUNCTION(DriverGetVersion);
  TUTTI_CUDA_FUNCTION(GetErrorName);
  TUTTI_CUDA_FUNCTION(GetErrorString);
  TUTTI_CUDA_FUNCTION(DeviceGetCount);
  TUTTI_CUDA_FUNCTION(DeviceGetAttribute);
  TUTTI_CUDA_FUNCTION(DevicePrimaryCtxGetState);
  TUTTI_CUDA_FUNCTION(DevicePrimaryCtxRetain);
  TUTTI_CUDA_FUNCTION(CtxGetId);
  TUTTI_CUDA_FUNCTION(CtxGetDevice);
  TUTTI_CUDA_FUNCTION(CtxGetStreamPriorityRange);
  TUTTI_CUDA_FUNCTION(CtxGetCurrent);
  TUTTI_CUDA_FUNCTION(CtxPushCurrent);
  TUTTI_CUDA_FUNCTION(CtxPopCurrent);
  TUTTI_CUDA_FUNCTION(MemAlloc);
  TUTTI_CUDA_FUNCTION(MemFree);
  TUTTI_CUDA_FUNCTION(MemHostRegister);
  TUTTI_CUDA_FUNCTION(MemHostUnregister);
  TUTTI_CUDA_FUNCTION(MemcpyAsync);
  TUTTI_CUDA_FUNCTION(StreamCreateWithPriority);
  TUTTI_CUDA_FUNCTION(StreamDestroy);
  TUTTI_CUDA_FUNCTION(StreamSynchronize);
  TUTTI_CUDA_FUNCTION(EventCreate);
  TUTTI_CUDA_FUNCTION(EventDestroy);
  TUTTI_CUDA_FUNCTION(EventRecord);
  TUTTI_CUDA_FUNCTION(EventQuery);
  TUTTI_CUDA_FUNCTION(EventSynchronize);
  TUTTI_CUDA_FUNCTION(PointerGetAttributes);
  TUTTI_CUDA_FUNCTION(IpcGetMemHandle);
  TUTTI_CUDA_FUNCTION(IpcOpenMemHandle);
  TUTTI_CUDA_FUNCTION(IpcCloseMemHandle);
  TUTTI_CUDA_FUNCTION(MemRetainAllocationHandle);
  TUTTI_CUDA_FUNCTION(MemExportToShareableHandle);
  TUTTI_CUDA_FUNCTION(MemImportFromShareableHandle);
  TUTTI_CUDA_FUNCTION(MemRelease);
  TUTTI_CUDA_FUNCTION(MemAddressReserve);
  TUTTI_CUDA_FUNCTION(MemAddressFree);
  TUTTI_CUDA_FUNCTION(MemMap);
  TUTTI_CUDA_FUNCTION(MemUnmap);
  TUTTI_CUDA_FUNCTION(MemSetAccess);
  TUTTI_CUDA_FUNCTION(ModuleLoadData);
  TUTTI_CUDA_FUNCTION(ModuleUnload);
  TUTTI_CUDA_FUNCTION(ModuleGetFunction);
  TUTTI_CUDA_FUNCTION(LaunchKernel);
  // Work in the order of a program's stream.
  TUTTI_CUDA_FUNCTION(MemHostGetDevicePointer);
  TUTTI_CUDA_FUNCTION(StreamGetCtx);
  TUTTI_CUDA_FUNCTION(StreamGetId);
  TUTTI_CUDA_FUNCTION(StreamWaitEvent);
  TUTTI_CUDA_FUNCTION(ThreadExchangeStreamCaptureMode);
  /// The signature of driver_version; the last three may be null.
  CUresult (*StreamGetCaptureInfo)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**,
                                   std::size_t*) = nullptr;
  // Optional: devices without values in memory that streams wait for, or without pools.
  TUTTI_CUDA_FUNCTION(MemAllocAsync);
  TUTTI_CUDA_FUNCTION(MemFreeAsync);
  TUTTI_CUDA_FUNCTION(StreamBatchMemOp);
  TUTTI_CUDA_FUNCTION(LaunchHostFunc);
  // Optional: without them nobody learns that a graph is gone.
  TUTTI_CUDA_FUNCTION(UserObjectCreate);
  TUTTI_CUDA_FUNCTION(UserObjectRelease);
  TUTTI_CUDA_FUNCTION(GraphRetainUserObject);
  /// Optional: drivers from CUDA 12.4 on have it, and so have their headers. Without it the first launch of a function
  /// loads it.
  CUresult (*FuncLoad)(CUfunction) = nullptr;
  // Optional: they describe devices to people.
  TUTTI_CUDA_FUNCTION(DeviceGetName);
  TUTTI_CUDA_FUNCTION(DeviceTotalMem);
  TUTTI_CUDA_FUNCTION(DeviceGetPCIBusId);
  TUTTI_CUDA_FUNCTION(DeviceCanAccessPeer);
  TUTTI_CUDA_FUNCTION(DeviceGetP2PAttribute);
};

#undef TUTTI_CUDA_FUNCTION

/// Loads the driver and initialises it at the first call. nullptr: there is none, or it finds no device.
[[nodiscard]] const Driver* driver();
/// The driver that the program has loaded, initialised or not. nullptr: it has loaded none that is usable. Loads
/// nothing.
[[nodiscard]] const Driver* loaded_driver();
/// Why there is none; empty: there is one. For people: "libcuda.so.1 was not found".
[[nodiscard]] const std::string& why_no_driver();

}  // namespace tutti::cuda
