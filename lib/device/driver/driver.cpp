#include "lib/device/driver/driver.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include "lib/device/driver/loaded.hpp"

namespace tutti::cuda {
namespace {

struct Found {
  Driver table{};
  std::string why_not{};
};

/// Looks functions up by their names, without a version in them.
class Finder {
 public:
  explicit Finder(void* library) {
    // The symbol has the version of its own signature: this one is that of CUDA 12.0.
    get_ = reinterpret_cast<decltype(get_)>(::dlsym(library, "cuGetProcAddress_v2"));
  }
  [[nodiscard]] bool is_usable() const { return get_ != nullptr; }
  template <class Function>
  void find(const char* name, Function& function) {
    find_optional(name, driver_version, function);
    if (function == nullptr && missing_.empty()) missing_ = name;
  }
  /// nullptr: the driver does not have it, or is older than `version`.
  template <class Function>
  void find_optional(const char* name, int version, Function& function) const {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status{};
    // A name that is not there is an error, or a success with another status.
    const CUresult result = get_(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    const bool is_there = result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS;
    function = is_there ? reinterpret_cast<Function>(found) : nullptr;
  }
  /// The first function that was not there.
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  CUresult (*get_)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*) = nullptr;
  std::string missing_;
};

/// Memory that processes share.
void fill_sharing(Driver& table, Finder& finder) {
  finder.find("cuIpcGetMemHandle", table.IpcGetMemHandle);
  finder.find("cuIpcOpenMemHandle", table.IpcOpenMemHandle);
  finder.find("cuIpcCloseMemHandle", table.IpcCloseMemHandle);
  finder.find("cuMemRetainAllocationHandle", table.MemRetainAllocationHandle);
  finder.find("cuMemExportToShareableHandle", table.MemExportToShareableHandle);
  finder.find("cuMemImportFromShareableHandle", table.MemImportFromShareableHandle);
  finder.find("cuMemRelease", table.MemRelease);
  finder.find("cuMemAddressReserve", table.MemAddressReserve);
  finder.find("cuMemAddressFree", table.MemAddressFree);
  finder.find("cuMemMap", table.MemMap);
  finder.find("cuMemUnmap", table.MemUnmap);
  finder.find("cuMemSetAccess", table.MemSetAccess);
}

/// Work in the order of a program's stream.
void fill_streams(Driver& table, Finder& finder) {
  finder.find("cuMemHostGetDevicePointer", table.MemHostGetDevicePointer);
  finder.find("cuStreamGetCtx", table.StreamGetCtx);
  finder.find("cuStreamGetId", table.StreamGetId);
  finder.find("cuThreadExchangeStreamCaptureMode", table.ThreadExchangeStreamCaptureMode);
  finder.find("cuStreamGetCaptureInfo", table.StreamGetCaptureInfo);
  finder.find_optional("cuMemAllocAsync", driver_version, table.MemAllocAsync);
  finder.find_optional("cuMemFreeAsync", driver_version, table.MemFreeAsync);
  finder.find_optional("cuLaunchHostFunc", driver_version, table.LaunchHostFunc);
  finder.find_optional("cuStreamBatchMemOp", driver_version, table.StreamBatchMemOp);
  finder.find_optional("cuUserObjectCreate", driver_version, table.UserObjectCreate);
  finder.find_optional("cuUserObjectRelease", driver_version, table.UserObjectRelease);
  finder.find_optional("cuGraphRetainUserObject", driver_version, table.GraphRetainUserObject);
}

std::string fill(Driver& table, void* library) {
  Finder finder{library};
  if (!finder.is_usable()) return "libcuda.so.1 is older than CUDA 12.0";
  finder.find("cuInit", table.Init);
  finder.find("cuDriverGetVersion", table.DriverGetVersion);
  finder.find("cuGetErrorName", table.GetErrorName);
  finder.find("cuGetErrorString", table.GetErrorString);
  finder.find("cuDeviceGetCount", table.DeviceGetCount);
  finder.find("cuDeviceGetAttribute", table.DeviceGetAttribute);
  finder.find("cuDevicePrimaryCtxGetState", table.DevicePrimaryCtxGetState);
  finder.find("cuDevicePrimaryCtxRetain", table.DevicePrimaryCtxRetain);
  finder.find("cuCtxGetId", table.CtxGetId);
  finder.find("cuCtxGetDevice", table.CtxGetDevice);
  finder.find("cuCtxGetStreamPriorityRange", table.CtxGetStreamPriorityRange);
  finder.find("cuCtxGetCurrent", table.CtxGetCurrent);
  finder.find("cuCtxPushCurrent", table.CtxPushCurrent);
  finder.find("cuCtxPopCurrent", table.CtxPopCurrent);
  finder.find("cuMemAlloc", table.MemAlloc);
  finder.find("cuMemFree", table.MemFree);
  finder.find("cuMemHostRegister", table.MemHostRegister);
  finder.find("cuMemHostUnregister", table.MemHostUnregister);
  finder.find("cuMemcpyAsync", table.MemcpyAsync);
  finder.find("cuStreamCreateWithPriority", table.StreamCreateWithPriority);
  finder.find("cuStreamDestroy", table.StreamDestroy);
  finder.find("cuStreamSynchronize", table.StreamSynchronize);
  finder.find("cuStreamWaitEvent", table.StreamWaitEvent);
  finder.find("cuEventCreate", table.EventCreate);
  finder.find("cuEventDestroy", table.EventDestroy);
  finder.find("cuEventRecord", table.EventRecord);
  finder.find("cuEventQuery", table.EventQuery);
  finder.find("cuEventSynchronize", table.EventSynchronize);
  finder.find("cuPointerGetAttributes", table.PointerGetAttributes);
  fill_sharing(table, finder);
  fill_streams(table, finder);
  finder.find("cuModuleLoadData", table.ModuleLoadData);
  finder.find("cuModuleUnload", table.ModuleUnload);
  finder.find("cuModuleGetFunction", table.ModuleGetFunction);
  finder.find("cuLaunchKernel", table.LaunchKernel);
  finder.find_optional("cuFuncLoad", 12040, table.FuncLoad);
  finder.find_optional("cuDeviceGetName", driver_version, table.DeviceGetName);
  finder.find_optional("cuDeviceTotalMem", driver_version, table.DeviceTotalMem);
  finder.find_optional("cuDeviceGetPCIBusId", driver_version, table.DeviceGetPCIBusId);
  finder.find_optional("cuDeviceCanAccessPeer", driver_version, table.DeviceCanAccessPeer);
  finder.find_optional("cuDeviceGetP2PAttribute", driver_version, table.DeviceGetP2PAttribute);
  return finder.missing().empty() ? "" : fmt::format("libcuda.so.1 has no {}", finder.missing());
}

Found filled(void* library) {
  Found found;
  found.why_not = fill(found.table, library);
  return found;
}

/// Never unloaded: the program may use the driver until it ends.
Found load() {
  void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {.why_not = "libcuda.so.1 was not found"};
  Found found = filled(library);
  if (!found.why_not.empty()) return found;
  int devices = 0;
  CUresult result = found.table.Init(0);
  if (result == CUDA_SUCCESS) result = found.table.DeviceGetCount(&devices);
  if (result != CUDA_SUCCESS) {
    const char* name = nullptr;
    found.table.GetErrorName(result, &name);
    found.why_not = fmt::format("the CUDA driver cannot be used: {}", name == nullptr ? "an unknown error" : name);
  } else if (devices == 0) {
    found.why_not = "the CUDA driver finds no device";
  }
  return found;
}

const Found& found() {
  static const Found* const once = new Found{load()};  // destructors of other objects may still ask
  return *once;
}

}  // namespace

const Driver* loaded_driver() {
  void* const library = loaded_library();
  if (library == nullptr) return nullptr;
  static const Found* const once = new Found{filled(library)};
  return once->why_not.empty() ? &once->table : nullptr;
}

const Driver* driver() { return found().why_not.empty() ? &found().table : nullptr; }

const std::string& why_no_driver() { return found().why_not; }

}  // namespace tutti::cuda
