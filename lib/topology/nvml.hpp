#pragma once
// The few functions of NVIDIA's management library that are used, declared here: it comes with the driver, so programs
// that link it do not start where there is none, and its header comes with few toolkits. Values as in nvml.h, whose
// binary interface does not change.

#include <array>
#include <memory>
#include <string>

namespace tutti::topology::nvml {

using Device = struct DeviceOfNvml*;
using Status = int;
inline constexpr Status success = 0;

struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, device_id, subsystem_id;
  std::array<char, 32> bus_id;
};
struct Memory {
  unsigned long long total, free, used;
};
inline constexpr int link_to_switch = 2;  // nvmlIntNvLinkDeviceType_t
inline constexpr unsigned most_links = 18;

/// The functions; throws Error where the library, one of them, or a driver is missing. Shut down when it dies.
class Library {
 public:
  Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library();

  Status (*driver_version)(char*, unsigned) = nullptr;
  Status (*device_count)(unsigned*) = nullptr;
  Status (*device_at)(unsigned, Device*) = nullptr;
  Status (*name)(Device, char*, unsigned) = nullptr;
  Status (*uuid)(Device, char*, unsigned) = nullptr;
  Status (*memory)(Device, Memory*) = nullptr;
  Status (*pci)(Device, PciInfo*) = nullptr;
  Status (*link_state)(Device, unsigned, int*) = nullptr;
  Status (*link_peer)(Device, unsigned, PciInfo*) = nullptr;
  /// Null in drivers older than NVSwitch.
  Status (*link_peer_type)(Device, unsigned, int*) = nullptr;

 private:
  Status (*shut_down_)() = nullptr;
};

}  // namespace tutti::topology::nvml
