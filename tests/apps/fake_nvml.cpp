// Stands in for NVIDIA's management library: three GPUs, of which 0 and 1 have two NVLinks to each other and all have
// three to switches. Takes the place of libnvidia-ml.so.1.
#include <array>
#include <cstdio>
#include <cstring>

#include "lib/topology/nvml.hpp"

namespace {

using namespace tutti::topology::nvml;

constexpr unsigned gpus = 3, direct_links = 2, links = 5;
std::array<char, gpus> places;  // a handle points into it

unsigned index_of(Device device) { return static_cast<unsigned>(reinterpret_cast<char*>(device) - places.data()); }
Status write(char* text, unsigned size, const char* format, unsigned number) {
  std::snprintf(text, size, format, number);
  return success;
}
void write_pci(PciInfo* pci, unsigned gpu) {
  *pci = {};
  std::snprintf(pci->bus_id.data(), pci->bus_id.size(), "00000000:A%u:00.0", gpu);
}

}  // namespace

extern "C" {

Status nvmlInit_v2() { return success; }
Status nvmlShutdown() { return success; }
const char* nvmlErrorString(Status /*status*/) { return "none"; }
Status nvmlSystemGetDriverVersion(char* text, unsigned size) { return write(text, size, "%u.1", 580); }
Status nvmlDeviceGetCount_v2(unsigned* count) {
  *count = gpus;
  return success;
}
Status nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  *device = reinterpret_cast<Device>(&places.at(index));
  return success;
}
Status nvmlDeviceGetName(Device device, char* text, unsigned size) {
  return write(text, size, "Fake %u", index_of(device));
}
Status nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
  return write(text, size, "GPU-%u", index_of(device));
}
Status nvmlDeviceGetMemoryInfo(Device /*device*/, Memory* memory) {
  *memory = {std::uint64_t{80} << 30, 0, 0};
  return success;
}
Status nvmlDeviceGetPciInfo_v3(Device device, PciInfo* pci) {
  write_pci(pci, index_of(device));
  return success;
}
Status nvmlDeviceGetNvLinkState(Device /*device*/, unsigned link, int* is_active) {
  *is_active = link < links ? 1 : 0;
  return success;
}
Status nvmlDeviceGetNvLinkRemoteDeviceType(Device device, unsigned link, int* type) {
  *type = link < direct_links && index_of(device) < 2 ? 0 : link_to_switch;
  if (link < direct_links && index_of(device) == 2) return 1;  // the peer of this link is not known
  return success;
}
Status nvmlDeviceGetNvLinkRemotePciInfo_v2(Device device, unsigned link, PciInfo* pci) {
  if (link >= direct_links || index_of(device) == 2) return 1;
  write_pci(pci, 1 - index_of(device));
  return success;
}

}  // extern "C"
