#pragma once

#include <filesystem>
#include <vector>

#include "lib/topology/topology.hpp"

namespace tutti::topology {

/// The network interfaces and RDMA devices below `sys`: "/sys". Not listed: the loopback, bridges, and virtual
/// interfaces that are down.
[[nodiscard]] std::vector<Nic> find_nics(const std::filesystem::path& sys);

/// The adapters that can carry messages between nodes: up, and virtual only if no other is.
[[nodiscard]] Numbers usable_nics(const std::vector<Nic>& nics);

}  // namespace tutti::topology
