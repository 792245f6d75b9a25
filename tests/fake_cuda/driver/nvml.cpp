// A stub of NVML: devices without NVLink and without a fabric.
#include <cstdio>
#include <cstring>

#include "tests/fake_cuda/driver/settings.hpp"

namespace {

constexpr int success = 0, invalid_argument = 2, not_supported = 3;
constexpr unsigned first_bus = 0xf0;

struct PciInformation {
  char legacy_id[16];
  unsigned domain, bus, device, pci_device, pci_subsystem;
  char id[32];
};
struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};

}  // namespace

#define FAKE_NVML_EXPORT extern "C" [[gnu::visibility("default")]]

FAKE_NVML_EXPORT int nvmlInit_v2() { return success; }
FAKE_NVML_EXPORT int nvmlShutdown() { return success; }
FAKE_NVML_EXPORT const char* nvmlErrorString(int error) {
  return error == success ? "success" : error == not_supported ? "not supported (fake)" : "error (fake)";
}
FAKE_NVML_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(fake_cuda::settings().devices);
  return success;
}
FAKE_NVML_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** handle) {
  if (static_cast<int>(index) >= fake_cuda::settings().devices) return invalid_argument;
  *handle = reinterpret_cast<void*>(static_cast<unsigned long>(index) + 1);
  return success;
}
FAKE_NVML_EXPORT int nvmlDeviceGetName(void*, char* name, unsigned bytes) {
  std::snprintf(name, bytes, "Fake CUDA device");
  return success;
}
FAKE_NVML_EXPORT int nvmlDeviceGetPciInfo_v3(void* handle, PciInformation* pci) {
  std::memset(pci, 0, sizeof *pci);
  pci->bus = first_bus + static_cast<unsigned>(reinterpret_cast<unsigned long>(handle)) - 1;
  std::snprintf(pci->id, sizeof pci->id, "00000000:%02X:00.0", pci->bus);
  return success;
}
/// Counts of links: 0. UCX takes a failed call for an error.
FAKE_NVML_EXPORT int nvmlDeviceGetFieldValues(void*, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].type = 1;
    values[i].result = success;
    values[i].value = 0;
  }
  return success;
}
FAKE_NVML_EXPORT int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return not_supported; }
FAKE_NVML_EXPORT int nvmlDeviceGetGpuFabricInfo(void*, void*) { return not_supported; }
FAKE_NVML_EXPORT int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return not_supported; }
