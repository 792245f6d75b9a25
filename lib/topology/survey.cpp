#include "lib/topology/survey.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>

#include "lib/topology/distance.hpp"
#include "lib/topology/gpus.hpp"
#include "lib/topology/nics.hpp"
#include "lib/topology/processors.hpp"

namespace tutti::topology {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

/// Where there is one NUMA node only, systems do not say that devices are there.
template <class Devices>
void complete_numas(Devices& devices, const Machine& machine) {
  if (machine.parts.numas != 1) return;
  for (auto& device : devices)
    if (device.numa == unknown_numa && !device.path.empty()) device.numa = 0;
}

/// The names, by the member `name`, of those of the candidates that are nearest to the binding.
template <class Devices, class Name>
std::vector<std::string> nearest_of(const Devices& devices, const Numbers& candidates, const Binding& binding,
                                    Name name) {
  std::vector<int> numas;
  numas.reserve(devices.size());
  for (const auto& device : devices)
    numas.push_back(device.numa);
  std::vector<std::string> names;
  for (const int device : nearest(candidates, numas, binding))
    names.push_back(devices[static_cast<std::size_t>(device)].*name);
  return names;
}

void find_links(Machine& machine, const std::vector<std::vector<int>>& nvlinks) {
  std::vector<Position> devices;
  for (const Gpu& gpu : machine.gpus)
    devices.push_back({gpu.path, gpu.numa});
  for (const Nic& nic : machine.nics)
    devices.push_back({nic.path, nic.numa});
  machine.links.assign(devices.size(), std::vector<Link>(devices.size()));
  for (std::size_t a = 0; a < devices.size(); ++a)
    for (std::size_t b = 0; b < devices.size(); ++b) {
      const int count = a < nvlinks.size() && b < nvlinks.size() ? nvlinks[a][b] : 0;
      Link& link = machine.links[a][b];
      if (count > 0)
        link = {LinkKind::nvlink, count};
      else
        link = {a == b ? LinkKind::self : kind_between(devices[a], devices[b]), 0};
    }
}

}  // namespace

Survey survey(const std::filesystem::path& sys) {
  Survey found;
  Machine& machine = found.machine;
  Binding& binding = found.binding;
  machine.host = host_name();
  machine.processors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  binding.processors = allowed_processors();
  find_parts(machine, binding);
  GpuSurvey gpus = find_gpus(sys);
  if (!gpus.why_not.empty()) machine.missing.push_back("GPUs: " + gpus.why_not);
  machine.gpus = std::move(gpus.gpus);
  machine.gpu_driver = std::move(gpus.driver);
  machine.nics = find_nics(sys);
  if (machine.nics.empty()) machine.missing.push_back("NICs: " + (sys / "class/net").string() + " shows none");
  complete_numas(machine.gpus, machine);
  complete_numas(machine.nics, machine);
  find_links(machine, gpus.nvlinks);
  const Numbers gpus_here = visible_gpus(machine.gpus, std::getenv("CUDA_VISIBLE_DEVICES"));
  binding.gpus = nearest_of(machine.gpus, gpus_here, binding, &Gpu::bus_id);
  binding.nics = nearest_of(machine.nics, usable_nics(machine.nics), binding, &Nic::name);
  return found;
}

}  // namespace tutti::topology
