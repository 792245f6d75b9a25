#include "tests/gpu/functions.hpp"

#include <dlfcn.h>

namespace tutti::gpu {
namespace {

constexpr int version = 12000;  ///< The version whose signatures are looked up.

struct Loaded {
  Functions table{};
  void* library = nullptr;
};

/// Looks functions up by their names without a version in them.
struct Finder {
  CUresult (*get)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  template <class Function>
  void optional(const char* name, Function& function) const {
    void* found = nullptr;
    CUdriverProcAddressQueryResult status{};
    const CUresult result = get(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    if (result == CUDA_SUCCESS && status == CU_GET_PROC_ADDRESS_SUCCESS) function = reinterpret_cast<Function>(found);
  }
  template <class Function>
  void operator()(const char* name, Function& function) const {
    optional(name, function);
    need(function, name);
  }
};

void find_required(const Finder& find, Functions& table) {
  find("cuInit", table.Init);
  find("cuDriverGetVersion", table.DriverGetVersion);
  find("cuGetErrorName", table.GetErrorName);
  find("cuDeviceGetCount", table.DeviceGetCount);
  find("cuDeviceGetName", table.DeviceGetName);
  find("cuDeviceTotalMem", table.DeviceTotalMem);
  find("cuDeviceGetAttribute", table.DeviceGetAttribute);
  find("cuDeviceCanAccessPeer", table.DeviceCanAccessPeer);
  find("cuDevicePrimaryCtxRetain", table.DevicePrimaryCtxRetain);
  find("cuCtxSetCurrent", table.CtxSetCurrent);
  find("cuMemAlloc", table.MemAlloc);
  find("cuMemFree", table.MemFree);
  find("cuMemHostAlloc", table.MemHostAlloc);
  find("cuMemHostRegister", table.MemHostRegister);
  find("cuMemHostGetDevicePointer", table.MemHostGetDevicePointer);
  find("cuMemcpyAsync", table.MemcpyAsync);
  find("cuMemsetD32Async", table.MemsetD32Async);
  find("cuStreamCreate", table.StreamCreate);
  find("cuStreamSynchronize", table.StreamSynchronize);
  find("cuStreamWaitEvent", table.StreamWaitEvent);
  find("cuEventCreate", table.EventCreate);
  find("cuEventRecord", table.EventRecord);
  find("cuEventQuery", table.EventQuery);
  find("cuModuleLoadData", table.ModuleLoadData);
  find("cuModuleGetFunction", table.ModuleGetFunction);
  find("cuLaunchKernel", table.LaunchKernel);
}

void find_optional(const Finder& find, Functions& table) {
  find.optional("cuCtxGetId", table.CtxGetId);
  find.optional("cuDevicePrimaryCtxReset", table.DevicePrimaryCtxReset);
  find.optional("cuCtxGetStreamPriorityRange", table.CtxGetStreamPriorityRange);
  find.optional("cuStreamCreateWithPriority", table.StreamCreateWithPriority);
  find.optional("cuStreamWaitValue32", table.StreamWaitValue32);
  find.optional("cuStreamWriteValue32", table.StreamWriteValue32);
  find.optional("cuStreamBeginCapture", table.StreamBeginCapture);
  find.optional("cuStreamEndCapture", table.StreamEndCapture);
  find.optional("cuGraphInstantiateWithFlags", table.GraphInstantiate);  // the plain name has another signature
  find.optional("cuGraphLaunch", table.GraphLaunch);
  find.optional("cuIpcGetMemHandle", table.IpcGetMemHandle);
  find.optional("cuIpcOpenMemHandle", table.IpcOpenMemHandle);
  find.optional("cuIpcCloseMemHandle", table.IpcCloseMemHandle);
  find.optional("cuIpcGetEventHandle", table.IpcGetEventHandle);
  find.optional("cuIpcOpenEventHandle", table.IpcOpenEventHandle);
}

std::string name_of(const Functions& table, CUresult error) {
  const char* name = nullptr;
  return table.GetErrorName(error, &name) == CUDA_SUCCESS && name != nullptr
             ? name
             : "error " + std::to_string(static_cast<int>(error));
}

Loaded load() {
  Loaded loaded;
  loaded.library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (loaded.library == nullptr) throw Unanswered("libcuda.so.1 was not found");
  // The symbol has the version of its own signature: this one is that of CUDA 12.0.
  const Finder find{reinterpret_cast<decltype(Finder::get)>(
      need(::dlsym(loaded.library, "cuGetProcAddress_v2"), "cuGetProcAddress"))};
  find_required(find, loaded.table);
  find_optional(find, loaded.table);
  int devices = 0;
  CUresult result = loaded.table.Init(0);
  if (result == CUDA_SUCCESS) result = loaded.table.DeviceGetCount(&devices);
  if (result != CUDA_SUCCESS) throw Unanswered("the CUDA driver cannot be used: " + name_of(loaded.table, result));
  if (devices == 0) throw Unanswered("the CUDA driver finds no device");
  return loaded;
}

const Loaded& loaded() {
  static const Loaded once = load();
  return once;
}

}  // namespace

const Functions& functions() { return loaded().table; }

bool is_fake() { return ::dlsym(loaded().library, "fake_cuda_counters") != nullptr; }

void check(CUresult result, const char* function) {
  if (result != CUDA_SUCCESS) throw std::runtime_error(std::string{function} + ": " + name_of(functions(), result));
}

CUcontext use_device(int device) {
  CUcontext context = nullptr;
  check(functions().DevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
  check(functions().CtxSetCurrent(context), "cuCtxSetCurrent");
  return context;
}

int device_count() {
  int count = 0;
  check(functions().DeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

}  // namespace tutti::gpu
