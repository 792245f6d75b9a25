#include "lib/topology/nvml.hpp"

#include <dlfcn.h>

#include "tutti/error.hpp"

namespace tutti::topology::nvml {
namespace {

constexpr const char* file = "libnvidia-ml.so.1";

/// Stays open: unloading a driver's library is asking for trouble.
void* opened() {
  void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) throw Error(std::string{"no NVIDIA driver: "} + dlerror());
  return library;
}

// POSIX: the result of dlsym for a function may be converted to its type.
template <class Function>
void find_if_there(void* library, const char* symbol, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
}
template <class Function>
void find(void* library, const char* symbol, Function& function) {
  find_if_there(library, symbol, function);
  if (function == nullptr) throw Error(std::string{file} + " has no " + symbol);
}

}  // namespace

Library::Library() {
  void* const library = opened();
  find(library, "nvmlSystemGetDriverVersion", driver_version);
  find(library, "nvmlDeviceGetCount_v2", device_count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", device_at);
  find(library, "nvmlDeviceGetName", name);
  find(library, "nvmlDeviceGetUUID", uuid);
  find(library, "nvmlDeviceGetMemoryInfo", memory);
  find(library, "nvmlDeviceGetPciInfo_v3", pci);
  find(library, "nvmlDeviceGetNvLinkState", link_state);
  find(library, "nvmlDeviceGetNvLinkRemotePciInfo_v2", link_peer);
  find_if_there(library, "nvmlDeviceGetNvLinkRemoteDeviceType", link_peer_type);
  find(library, "nvmlShutdown", shut_down_);
  Status (*init)() = nullptr;
  const char* (*text)(Status) = nullptr;
  find(library, "nvmlInit_v2", init);
  find(library, "nvmlErrorString", text);
  if (const Status status = init(); status != success) throw Error(std::string{"nvmlInit: "} + text(status));
}

Library::~Library() { shut_down_(); }

}  // namespace tutti::topology::nvml
