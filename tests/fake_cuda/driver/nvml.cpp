// A stub of NVML: devices without NVLink and without a fabric.
#include <cstdint>
#include <cstdio>

#include "lib/topology/nvml.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

namespace {

using namespace tutti::topology::nvml;

constexpr Status not_supported = 3;
constexpr unsigned first_bus = 0xf0;

struct FieldValue {
  unsigned field, scope;
  long long timestamp, latency;
  int type, result;
  unsigned long long value;
};

/// A handle is the number of the device, from 1 on.
unsigned number_of(Device device) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)) - 1; }

}  // namespace

#define FAKE_NVML_EXPORT extern "C" [[gnu::visibility("default")]]

FAKE_NVML_EXPORT Status nvmlInit_v2() { return success; }
FAKE_NVML_EXPORT Status nvmlShutdown() { return success; }
FAKE_NVML_EXPORT const char* nvmlErrorString(Status error) {
  return error == success ? "success" : error == not_supported ? "not supported (fake)" : "error (fake)";
}
FAKE_NVML_EXPORT Status nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
  std::snprintf(version, bytes, "fake");
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(fake_cuda::settings().devices);
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (static_cast<int>(index) >= fake_cuda::settings().devices) return 2;
  *device = reinterpret_cast<Device>(static_cast<std::uintptr_t>(index) + 1);
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetName(Device device, char* name, unsigned bytes) {
  std::snprintf(name, bytes, "Fake CUDA device %u", number_of(device));
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetUUID(Device device, char* uuid, unsigned bytes) {
  std::snprintf(uuid, bytes, "GPU-fa%02x", number_of(device));
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetMemoryInfo(Device, Memory* memory) {
  *memory = {fake_cuda::settings().memory_bytes, 0, 0};
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  *pci = {};
  pci->bus = first_bus + number_of(device);
  std::snprintf(pci->bus_id.data(), pci->bus_id.size(), "00000000:%02X:00.0", first_bus + number_of(device));
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetNvLinkState(Device, unsigned, int* is_active) {
  *is_active = 0;
  return success;
}
/// Counts of links: 0. UCX takes a failed call for an error.
FAKE_NVML_EXPORT Status nvmlDeviceGetFieldValues(Device, int count, FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    values[i].type = 1;
    values[i].result = success;
    values[i].value = 0;
  }
  return success;
}
FAKE_NVML_EXPORT Status nvmlDeviceGetNvLinkRemoteDeviceType(Device, unsigned, int*) { return not_supported; }
FAKE_NVML_EXPORT Status nvmlDeviceGetNvLinkRemotePciInfo_v2(Device, unsigned, PciInfo*) { return not_supported; }
FAKE_NVML_EXPORT Status nvmlDeviceGetGpuFabricInfo(Device, void*) { return not_supported; }
FAKE_NVML_EXPORT Status nvmlDeviceGetGpuFabricInfoV(Device, void*) { return not_supported; }
