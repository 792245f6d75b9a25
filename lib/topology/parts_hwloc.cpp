#include <hwloc.h>

#include <algorithm>
#include <array>
#include <memory>

#include "lib/topology/processors.hpp"

namespace tutti::topology {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;
using Bitmap = std::unique_ptr<hwloc_bitmap_s, Destroy>;

/// Null where hwloc cannot.
Topology load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology{raw};
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

/// A kind of part: hwloc's name, and where its numbers and their count go.
struct PartKind {
  hwloc_obj_type_t type;
  Numbers Parts<Numbers>::*numbers;
  int Parts<int>::*count;
};
constexpr std::array kinds{PartKind{HWLOC_OBJ_CORE, &Parts<Numbers>::cores, &Parts<int>::cores},
                           PartKind{HWLOC_OBJ_L3CACHE, &Parts<Numbers>::l3s, &Parts<int>::l3s},
                           PartKind{HWLOC_OBJ_NUMANODE, &Parts<Numbers>::numas, &Parts<int>::numas},
                           PartKind{HWLOC_OBJ_PACKAGE, &Parts<Numbers>::sockets, &Parts<int>::sockets}};

}  // namespace

void find_parts(Machine& machine, Binding& binding) {
  const Topology topology = load();
  if (topology == nullptr) {
    machine.missing.emplace_back("sockets, NUMA nodes, caches and cores: hwloc cannot read them");
    return;
  }
  const Bitmap allowed{hwloc_bitmap_alloc()};
  for (const int processor : binding.processors)
    hwloc_bitmap_set(allowed.get(), static_cast<unsigned>(processor));
  for (const auto& [type, numbers, count] : kinds) {
    machine.parts.*count = std::max(0, hwloc_get_nbobjs_by_type(topology.get(), type));
    hwloc_obj_t part = nullptr;
    while ((part = hwloc_get_next_obj_by_type(topology.get(), type, part)) != nullptr)
      if (hwloc_bitmap_intersects(part->cpuset, allowed.get()) != 0)
        (binding.parts.*numbers)
            .push_back(static_cast<int>(type == HWLOC_OBJ_NUMANODE ? part->os_index : part->logical_index));
  }
}

}  // namespace tutti::topology
