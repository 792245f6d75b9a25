#pragma once
// How far apart two processes of a node are, and two devices.

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/topology/topology.hpp"

namespace tutti::topology {

/// The smallest part of a node that holds all processors on which two processes may run. Processes that are bound to
/// nothing are as far apart as the node is wide.
enum class Distance : std::uint8_t { self, core, l3, numa, socket, node, other_node };

/// How far apart two processes of one node are; node where nothing more is known.
[[nodiscard]] Distance distance(const Binding& a, const Binding& b);
/// "X", "core", "L3", "NUMA", "socket", "node", "other node".
[[nodiscard]] std::string_view to_string(Distance distance);

/// How two devices with these paths of PCI bridges reach each other; `numa` are their NUMA nodes. Sees no NVLink.
struct Position {
  const std::vector<std::string>& path;
  int numa;
};
[[nodiscard]] LinkKind kind_between(const Position& a, const Position& b);
/// A link as nvidia-smi writes it: "NV18", "PIX", "SYS"; "?": unknown.
[[nodiscard]] std::string to_string(const Link& link);
/// The link of a text that to_string() wrote; unknown for any other text.
[[nodiscard]] Link link_of(std::string_view text);

/// The devices of `numas` that are nearest to a process: on its NUMA nodes, if any of the candidates is, else all
/// candidates. `numas`: by device.
[[nodiscard]] Numbers nearest(const Numbers& candidates, const std::vector<int>& numas, const Binding& binding);

}  // namespace tutti::topology
