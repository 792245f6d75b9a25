#include "lib/topology/processors.hpp"

namespace tutti::topology {

void find_parts(Machine& machine, Binding& /*binding*/) {
  machine.missing.emplace_back("sockets, NUMA nodes, caches and cores: built without hwloc");
}

}  // namespace tutti::topology
