#pragma once
// Networks: hosts, switches, the links between them, and the route of every message.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::simulator {

using Time = std::int64_t;  // picoseconds
/// The longest that a step or a message may take: a thousand of them can be added.
inline constexpr Time longest_time = 9'000'000'000'000'000;

/// The largest number of a rate that users may give: no sum of them is longer than can be counted.
inline constexpr double most_rate = 1e8;

/// The latency and the bandwidth of a link.
struct LinkRates {
  double latency = 0.5;     ///< Microseconds.
  double bandwidth = 12.5;  ///< GB/s (1e9 bytes a second) in each direction; 0: no limit.
};
/// Bytes per picosecond; infinite if there is no limit.
[[nodiscard]] double rate_of(const LinkRates& rates);
[[nodiscard]] Time latency_of(const LinkRates& rates);

/// One direction of a cable.
struct Link {
  int from = 0, to = 0;  ///< Vertices: hosts are 0, 1, ..., switches follow.
  int kind = 0;          ///< A place in Topology::kinds().
  double rate = 0;       ///< Bytes per picosecond.
  Time latency = 0;
};

/// Vertices in groups. What one group has to tell others crosses the links between them: for lower bounds.
struct Partition {
  std::string name;           ///< "groups"
  std::vector<int> group_of;  ///< By vertex; -1: in none.
  int groups = 0;
};

class Topology {
 public:
  virtual ~Topology() = default;
  Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] int hosts() const { return hosts_; }
  [[nodiscard]] int vertices() const { return vertices_; }
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<std::string>& kinds() const { return kinds_; }
  /// Appends the links from one host to another, which is not the same. Throws ArgumentError if there are none.
  virtual void route(int from, int to, std::vector<int>& links) const = 0;
  /// The groups whose borders may be narrow.
  [[nodiscard]] virtual std::vector<Partition> partitions() const { return {}; }
  /// "host 3", "switch 1.0"
  [[nodiscard]] virtual std::string name_of_vertex(int vertex) const = 0;
  /// "host 3 > switch 1.0"
  [[nodiscard]] std::string name_of(const Link& link) const;

 protected:
  int add_link(int from, int to, int kind, const LinkRates& rates, int cables = 1);

  int hosts_ = 0, vertices_ = 0;
  std::vector<Link> links_;
  std::vector<std::string> kinds_;
};

/// Every host has a link to, and one from, a switch that is never a bottleneck.
[[nodiscard]] std::unique_ptr<Topology> crossbar(int hosts, const LinkRates& link);

/// Level i has switches with `children[i]` switches (hosts) of the level below, each of which has `parents[i]` parents
/// and `cables[i]` cables to each. Routes go up until the destination is below, by D-mod-k, and down.
struct FatTreeForm {
  std::vector<int> children, parents, cables;
};
[[nodiscard]] std::unique_ptr<Topology> fat_tree(const FatTreeForm& form, const LinkRates& link);

/// Each host has a cable to its neighbours in each dimension. Routes go along the first dimension first, the shorter
/// way.
[[nodiscard]] std::unique_ptr<Topology> torus(const std::vector<int>& dimensions, const LinkRates& link);

/// Routers of a chassis are all linked (green), so are those of a group that have the same place in their chassis
/// (black), and so are groups (blue): router j of group i has the cable to group j, modulo the routers of a group. A
/// link of several cables has their bandwidth in one. Routes are minimal: in a group first along green, then black.
struct DragonflyForm {
  int groups = 1, blue = 1, chassis = 1, black = 1, routers = 1, green = 1, hosts = 1;
};
[[nodiscard]] std::unique_ptr<Topology> dragonfly(const DragonflyForm& form, const LinkRates& link);

/// What users write: "crossbar", "fat-tree:2;8,8;1,4;1,1", "torus:4,4,4", "dragonfly:4,1;2,1;4,1;2", the latter with
/// the numbers of SimGrid's topo_parameters. A crossbar without a number has `hosts`. Throws ArgumentError that says
/// what is allowed.
[[nodiscard]] std::unique_ptr<Topology> topology_of(std::string_view text, int hosts, const LinkRates& link);
/// Whether the text names a topology that is generated: a file's path does not.
[[nodiscard]] bool is_generated(std::string_view text);

/// The topology of a file (docs/simulation.md): hosts, switches, links, and routes or shortest paths. `link`: of links
/// that have no latency or bandwidth of their own. Throws ArgumentError that begins with "PATH:LINE:COLUMN: ".
[[nodiscard]] std::unique_ptr<Topology> topology_of_file(std::string_view text, std::string_view path,
                                                         const LinkRates& link = {});

}  // namespace tutti::simulator
