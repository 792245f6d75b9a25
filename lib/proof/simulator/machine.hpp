#pragma once
// The machine that ranks run on: where they are, how fast they are, and how their messages go.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology.hpp"

namespace tutti::simulator {

/// Latency and bandwidth of the messages of a level. The bandwidth is that of a rank in each direction, whatever links
/// its messages take.
using LevelRates = LinkRates;

/// The parameters of the model, in microseconds and bytes.
struct Rates {
  double overhead = 0.3;               ///< LogGP's o: the processor's work for a send, and for a receive.
  double gap = 0;                      ///< LogGP's g: the least time between two sends of a rank, and two receives.
  std::int64_t eager = 8192;           ///< A send of so many bytes or less is done when it is handed over.
  double handshake = 1;                ///< Of longer messages, after both ends are posted.
  double reduced = 2.5e-5;             ///< A byte of a reduction's result.
  double copied = 2.5e-5;              ///< A byte that is copied.
  LevelRates socket{0.2, 20};          ///< Between ranks of a socket,
  LevelRates node{0.4, 15};            ///< of different sockets of a node,
  LevelRates network{0, 0};            ///< and of different nodes: LogGP's G, beside the links; 0: they alone.
  double memory = 0;                   ///< GB/s of a node, which the messages inside it share; 0: no limit.
  LinkRates link{};                    ///< Of the links of topologies, unless a file gives theirs.
  std::string source{"the defaults"};  ///< "rates.json, of ...": for people.
};
/// The rates by their names in files: "overhead", "socket.latency". `eager` is none of them, as it is a whole number.
struct NamedRate {
  std::string_view name;
  double* value;
};
[[nodiscard]] std::vector<NamedRate> named_rates(Rates& rates);
/// The rates of a file (docs/simulation.md). What is left out has its default. Throws ArgumentError that begins with
/// "PATH:LINE:COLUMN: ".
[[nodiscard]] Rates read_rates(std::string_view text, std::string_view path);

/// The host and, of the sockets of all hosts, the socket of each rank.
struct Placement {
  std::vector<int> host_of, socket_of;
};

/// Ranks on hosts.
class Machine {
 public:
  /// The topology has to outlive it.
  Machine(const Topology& topology, Placement placement, Rates rates);

  [[nodiscard]] int ranks() const { return static_cast<int>(placement_.host_of.size()); }
  [[nodiscard]] int host_of(int rank) const { return placement_.host_of[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Rates& rates() const { return rates_; }
  /// The links of the topology, then those of the machine's own: ports of ranks and memory of hosts.
  [[nodiscard]] const std::vector<Link>& links() const { return links_; }
  [[nodiscard]] const std::vector<std::string>& kinds() const { return kinds_; }
  [[nodiscard]] std::string name_of(int link) const;

  /// The way of a message from one rank to another, which may be on the same host.
  struct Way {
    std::vector<int> links{};
    Time latency = 0;
    double rate = 0;  ///< Of the slowest link; infinite if none has a limit.
  };
  void find_way(int from, int to, Way& way) const;

  /// What a rank can send, or receive, at most: bytes per picosecond.
  [[nodiscard]] double rate_out_of(int rank) const { return rate_of_rank(rank, out_of_host_); }
  [[nodiscard]] double rate_into(int rank) const { return rate_of_rank(rank, into_host_); }
  /// The node, and the socket, of each rank as algorithms see them: numbered by their lowest ranks. Empty if there is
  /// only one node; one socket a node.
  [[nodiscard]] std::vector<int> nodes() const;
  [[nodiscard]] std::vector<int> sockets() const;

 private:
  enum Level : std::uint8_t { socket, node, network, levels };
  [[nodiscard]] Level level_of(int from, int to) const;
  [[nodiscard]] const LevelRates& rates_of(Level level) const;
  [[nodiscard]] double rate_of_rank(int rank, const std::vector<double>& of_hosts) const;
  void add_ports(Level level, const char* name);
  void add_memory();

  const Topology& topology_;
  Placement placement_;
  Rates rates_;
  std::vector<Link> links_;
  std::vector<std::string> kinds_;
  int first_port_[levels] = {-1, -1, -1};  // two for each rank; -1: none
  int first_memory_ = -1;
  bool has_sockets_ = false;  // some hosts have ranks on several
  std::vector<double> out_of_host_, into_host_;
  std::vector<int> ranks_on_;
};

}  // namespace tutti::simulator
