#include "lib/topology/gpus.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <exception>

#include "lib/topology/nvml.hpp"
#include "lib/topology/sysfs.hpp"

namespace tutti::topology {
namespace {

/// The bus id as /sys has it: four digits of the domain where NVML has eight, and no capital letters.
std::string bus_id_of(const nvml::PciInfo& pci) {
  std::string id{pci.bus_id.data()};
  if (id.size() > 12) id.erase(0, id.size() - 12);
  std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
  return id;
}

template <class Call>
std::string text_of(Call call) {
  std::array<char, 96> text{};
  return call(text.data(), static_cast<unsigned>(text.size())) == nvml::success ? text.data() : "unknown";
}

Gpu describe(const nvml::Library& library, nvml::Device device, const std::filesystem::path& sys) {
  Gpu gpu;
  gpu.name = text_of([&](char* text, unsigned size) { return library.name(device, text, size); });
  gpu.uuid = text_of([&](char* text, unsigned size) { return library.uuid(device, text, size); });
  nvml::Memory memory{};
  if (library.memory(device, &memory) == nvml::success)
    gpu.gibibytes = static_cast<double>(memory.total) / (1024.0 * 1024 * 1024);
  nvml::PciInfo pci{};
  if (library.pci(device, &pci) != nvml::success) return gpu;
  gpu.bus_id = bus_id_of(pci);
  const auto folder = sys / "bus/pci/devices" / gpu.bus_id;
  gpu.path = pci_path(folder);
  gpu.numa = numa_of(folder);
  return gpu;
}

/// Where a GPU's active NVLinks go: to which others, and how many to switches.
struct Links {
  std::vector<std::string> peers;
  int to_switches = 0;
  [[nodiscard]] int to(const std::string& bus_id) const {
    return static_cast<int>(std::count(peers.begin(), peers.end(), bus_id));
  }
};

Links links_of(const nvml::Library& library, nvml::Device device) {
  Links links;
  for (unsigned link = 0; link < nvml::most_links; ++link) {
    int is_active = 0, type = 0;
    if (library.link_state(device, link, &is_active) != nvml::success || is_active == 0) continue;
    nvml::PciInfo peer{};
    if (library.link_peer_type != nullptr && library.link_peer_type(device, link, &type) == nvml::success &&
        type == nvml::link_to_switch)
      ++links.to_switches;
    else if (library.link_peer(device, link, &peer) == nvml::success)
      links.peers.push_back(bus_id_of(peer));
  }
  return links;
}

/// Every GPU at a switch reaches all others there.
std::vector<std::vector<int>> count_links(const std::vector<Gpu>& gpus, const std::vector<Links>& links) {
  std::vector<std::vector<int>> counts(gpus.size(), std::vector<int>(gpus.size()));
  for (std::size_t a = 0; a < gpus.size(); ++a)
    for (std::size_t b = 0; b < gpus.size(); ++b)
      if (a != b) counts[a][b] = links[a].to(gpus[b].bus_id) + std::min(links[a].to_switches, links[b].to_switches);
  return counts;
}

}  // namespace

GpuSurvey find_gpus(const std::filesystem::path& sys) try {
  const nvml::Library library;
  GpuSurvey found;
  found.driver = text_of([&](char* text, unsigned size) { return library.driver_version(text, size); });
  unsigned count = 0;
  if (library.device_count(&count) != nvml::success) count = 0;
  std::vector<Links> links;
  for (unsigned index = 0; index < count; ++index) {
    nvml::Device device = nullptr;
    if (library.device_at(index, &device) != nvml::success) continue;  // another user's, by its permissions
    found.gpus.push_back(describe(library, device, sys));
    links.push_back(links_of(library, device));
  }
  found.nvlinks = count_links(found.gpus, links);
  if (found.gpus.empty()) found.why_not = "the NVIDIA driver shows none";
  return found;
} catch (const std::exception& error) {
  return {.gpus = {}, .nvlinks = {}, .driver = {}, .why_not = error.what()};
}

Numbers visible_gpus(const std::vector<Gpu>& gpus, const char* setting) {
  Numbers visible;
  if (setting == nullptr) {
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu)
      visible.push_back(static_cast<int>(gpu));
    return visible;
  }
  for (std::string_view rest{setting}; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    std::size_t number = gpus.size();
    if (name.substr(0, 4) == "GPU-")
      number = static_cast<std::size_t>(
          std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& gpu) { return gpu.uuid.rfind(name, 0) == 0; }) -
          gpus.begin());
    else
      std::from_chars(name.data(), name.data() + name.size(), number);
    if (number >= gpus.size()) break;
    visible.push_back(static_cast<int>(number));
  }
  std::sort(visible.begin(), visible.end());
  return visible;
}

}  // namespace tutti::topology
