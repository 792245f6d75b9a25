#include "lib/topology/nics.hpp"

#include <algorithm>
#include <optional>

#include "lib/topology/sysfs.hpp"

namespace tutti::topology {
namespace {

namespace fs = std::filesystem;

// Numbers of the kernel's if_arp.h.
constexpr int loopback_type = 772, infiniband_type = 32;
constexpr const char* virtual_kind = "virtual";

void locate(Nic& nic, const fs::path& device) {
  nic.path = pci_path(device);
  nic.numa = numa_of(device);
}

std::optional<Nic> interface_in(const fs::path& folder) {
  const int type = whole_number_of(first_line(folder / "type"), 0);
  std::error_code none;
  if (type == 0 || type == loopback_type || fs::exists(folder / "bridge", none)) return std::nullopt;
  Nic nic;
  nic.name = folder.filename();
  nic.is_up = first_line(folder / "operstate") == "up";
  nic.gbit_per_s = std::max(0.0, number_in(folder / "speed", 0)) / 1000;
  nic.kind = type == infiniband_type ? "InfiniBand" : "Ethernet";
  if (fs::exists(folder / "device", none))
    locate(nic, folder / "device");
  else if (nic.is_up)
    nic.kind = virtual_kind;
  else
    return std::nullopt;
  return nic;
}

/// A device for RDMA has ports, which count from 1.
std::vector<Nic> ports_of(const fs::path& folder) {
  std::vector<Nic> nics;
  const std::vector<std::string> ports = names_in(folder / "ports");
  for (const std::string& port : ports) {
    Nic nic;
    nic.name = folder.filename().string() + (ports.size() > 1 ? ":" + port : "");
    nic.kind = first_line(folder / "ports" / port / "link_layer") == "Ethernet" ? "RoCE" : "InfiniBand";
    nic.is_up = first_line(folder / "ports" / port / "state").find("ACTIVE") != std::string::npos;
    nic.gbit_per_s = number_in(folder / "ports" / port / "rate", 0);
    locate(nic, folder / "device");
    nics.push_back(std::move(nic));
  }
  return nics;
}

}  // namespace

std::vector<Nic> find_nics(const fs::path& sys) {
  std::vector<Nic> nics;
  for (const std::string& name : names_in(sys / "class/infiniband"))
    for (Nic& nic : ports_of(sys / "class/infiniband" / name))
      nics.push_back(std::move(nic));
  for (const std::string& name : names_in(sys / "class/net"))
    if (auto nic = interface_in(sys / "class/net" / name)) nics.push_back(std::move(*nic));
  return nics;
}

Numbers usable_nics(const std::vector<Nic>& nics) {
  const bool has_real =
      std::any_of(nics.begin(), nics.end(), [](const Nic& nic) { return nic.is_up && nic.kind != virtual_kind; });
  Numbers usable;
  for (std::size_t i = 0; i < nics.size(); ++i)
    if (nics[i].is_up && (nics[i].kind != virtual_kind || !has_real)) usable.push_back(static_cast<int>(i));
  return usable;
}

}  // namespace tutti::topology
