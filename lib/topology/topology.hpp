#pragma once
// The known facts about nodes, and about the bindings of processes to them. Plain data: found by survey.hpp, compared
// by distance.hpp, printed by its users.

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::topology {

/// Ascending numbers of parts of a machine.
using Numbers = std::vector<int>;

inline constexpr int unknown_numa = -1;

/// A network interface, or a device for remote memory access.
struct Nic {
  std::string name;       ///< "eth0", "mlx5_0".
  std::string kind;       ///< "Ethernet", "InfiniBand", "virtual".
  double gbit_per_s = 0;  ///< 0: not known.
  bool is_up = false;
  int numa = unknown_numa;
  std::vector<std::string> path;  ///< PCI bridges, from the host's on, with the device itself; empty: none.
  bool operator==(const Nic&) const = default;
};

struct Gpu {
  std::string name, uuid;
  std::string bus_id;  ///< "0000:3b:00.0".
  double gibibytes = 0;
  int numa = unknown_numa;
  std::vector<std::string> path;  ///< As a Nic's.
  bool operator==(const Gpu&) const = default;
};

/// How two devices of a node reach each other: NV#, PIX, PXB, PHB, NODE and SYS in nvidia-smi.
enum class LinkKind : std::uint8_t { self, nvlink, one_switch, switches, host_bridge, numa, system, unknown };
struct Link {
  LinkKind kind = LinkKind::unknown;
  int nvlinks = 0;  ///< Only with LinkKind::nvlink.
  bool operator==(const Link&) const = default;
};

/// The parts that a processor is in, from the smallest to the largest. Cores, caches and sockets are numbered as hwloc
/// does (logical numbers), NUMA nodes as the system does.
template <class T>
struct Parts {
  T cores{}, l3s{}, numas{}, sockets{};
  bool operator==(const Parts&) const = default;
};

/// A node: the facts that all its ranks have in common.
struct Machine {
  std::string host;
  Parts<int> parts;    ///< How many there are; 0: not known.
  int processors = 0;  ///< Hardware threads online.
  std::vector<Nic> nics;
  std::vector<Gpu> gpus;
  std::vector<std::vector<Link>> links;  ///< Between all GPUs and then NICs, each with each.
  std::string gpu_driver;                ///< Version of NVIDIA's; empty: none.
  std::vector<std::string> missing;      ///< Facts that could not be found out, and why.
  bool operator==(const Machine&) const = default;
};

/// Where a process may run.
struct Binding {
  Numbers processors;                   ///< As the system numbers them.
  Parts<Numbers> parts;                 ///< The parts that have one of these processors; empty: not known.
  std::vector<std::string> gpus, nics;  ///< Bus ids and names of the nearest devices that it may use.
};

/// A process and its machine.
struct Survey {
  Machine machine;
  Binding binding;
};

}  // namespace tutti::topology
