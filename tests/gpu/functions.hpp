#pragma once
// The functions of the CUDA driver that the probe calls, found when the program runs: it starts where there is no
// driver.

#include <cuda.h>

#include <stdexcept>
#include <string>

namespace tutti::gpu {

/// A question has no answer here: the driver or the machine lacks something. The rest goes on.
struct Unanswered : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define TUTTI_GPU_FUNCTION(name) decltype(&::cu##name) name = nullptr

/// Called as `functions().MemAlloc(...)`, by way of need() where drivers may lack it.
struct Functions {
  TUTTI_GPU_FUNCTION(Init);
  TUTTI_GPU_FUNCTION(DriverGetVersion);
  TUTTI_GPU_FUNCTION(GetErrorName);
  TUTTI_GPU_FUNCTION(DeviceGetCount);
  TUTTI_GPU_FUNCTION(DeviceGetName);
  TUTTI_GPU_FUNCTION(DeviceTotalMem);
  TUTTI_GPU_FUNCTION(DeviceGetAttribute);
  TUTTI_GPU_FUNCTION(DeviceCanAccessPeer);
  TUTTI_GPU_FUNCTION(DevicePrimaryCtxRetain);
  TUTTI_GPU_FUNCTION(CtxSetCurrent);
  TUTTI_GPU_FUNCTION(MemAlloc);
  TUTTI_GPU_FUNCTION(MemFree);
  TUTTI_GPU_FUNCTION(MemHostAlloc);
  TUTTI_GPU_FUNCTION(MemHostRegister);
  TUTTI_GPU_FUNCTION(MemHostGetDevicePointer);
  TUTTI_GPU_FUNCTION(MemcpyAsync);
  TUTTI_GPU_FUNCTION(MemsetD32Async);
  TUTTI_GPU_FUNCTION(StreamCreate);
  TUTTI_GPU_FUNCTION(StreamSynchronize);
  TUTTI_GPU_FUNCTION(StreamWaitEvent);
  TUTTI_GPU_FUNCTION(EventCreate);
  TUTTI_GPU_FUNCTION(EventRecord);
  TUTTI_GPU_FUNCTION(EventQuery);
  TUTTI_GPU_FUNCTION(ModuleLoadData);
  TUTTI_GPU_FUNCTION(ModuleGetFunction);
  TUTTI_GPU_FUNCTION(LaunchKernel);
  // The functions below may be missing.
  TUTTI_GPU_FUNCTION(CtxGetId);
  TUTTI_GPU_FUNCTION(DevicePrimaryCtxReset);
  TUTTI_GPU_FUNCTION(CtxGetStreamPriorityRange);
  TUTTI_GPU_FUNCTION(StreamCreateWithPriority);
  TUTTI_GPU_FUNCTION(StreamWaitValue32);
  TUTTI_GPU_FUNCTION(StreamWriteValue32);
  TUTTI_GPU_FUNCTION(StreamBeginCapture);
  TUTTI_GPU_FUNCTION(StreamEndCapture);
  TUTTI_GPU_FUNCTION(GraphInstantiate);
  TUTTI_GPU_FUNCTION(GraphLaunch);
  TUTTI_GPU_FUNCTION(IpcGetMemHandle);
  TUTTI_GPU_FUNCTION(IpcOpenMemHandle);
  TUTTI_GPU_FUNCTION(IpcCloseMemHandle);
  TUTTI_GPU_FUNCTION(IpcGetEventHandle);
  TUTTI_GPU_FUNCTION(IpcOpenEventHandle);
};

#undef TUTTI_GPU_FUNCTION

/// Loads the driver and initialises it at the first call. Throws Unanswered, which says why, if there is none or no
/// device.
[[nodiscard]] const Functions& functions();
/// Whether it is the fake one of the tests, whose figures mean nothing.
[[nodiscard]] bool is_fake();

/// Throws std::runtime_error that names the function and the driver's error.
void check(CUresult result, const char* function);

/// The function, if the driver has it. Throws Unanswered.
template <class Function>
Function need(Function function, const char* name) {
  if (function == nullptr) throw Unanswered(std::string{"the driver has no "} + name);
  return function;
}

/// Makes the primary context of a device current. It stays until the process ends.
CUcontext use_device(int device);
[[nodiscard]] int device_count();

}  // namespace tutti::gpu
