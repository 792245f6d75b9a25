#pragma once
// What `tutti simulate` is asked for, and the machine that it makes of that.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/files/schedule_file.hpp"
#include "lib/core/schedule/choice.hpp"
#include "lib/proof/simulator/machine.hpp"
#include "lib/proof/simulator/simulate.hpp"

namespace tutti::tool {

/// "allgather ring 64K": a call of a sequence. `bytes` 0: those of the first call.
struct SimulatedCall {
  std::string collective, algorithm;
  std::int64_t bytes = 0;
};

struct SimulationSettings {
  std::string collective;
  std::vector<std::string> algorithms, files;
  std::vector<SimulatedCall> then;
  std::string topology = "crossbar", placement = "block", rates_file, rules, late;
  std::vector<std::string> changed_rates;  ///< "overhead=0"
  std::string sharing = "equal", format = "text", picture, exported;
  std::vector<std::int64_t> sizes{1024, 1 << 20};
  int ranks = 64, ppn = 1, sockets = 1, root = 0, calls = 1;
  std::int64_t element = 4;
  double noise = 0, limit = 10;  ///< `limit`: seconds of computing for a row; 0: as many as it takes.
  std::uint64_t seed = 1;
  bool shows_details = false;
  [[nodiscard]] bool is_sequence() const { return calls > 1 || !then.empty(); }
};

/// The machine with what it refers to, and what else the runs have in common.
struct SimulatedMachine {
  explicit SimulatedMachine(const SimulationSettings& settings);

  bool has_topology_file = false;
  simulator::Rates rates;
  std::unique_ptr<simulator::Topology> topology;
  simulator::Machine machine;
  simulator::Conditions conditions;
  std::vector<int> nodes, sockets;          ///< As in Problem.
  int least_on_host = 0, most_on_host = 0;  ///< Ranks, of the hosts that have any.
};

}  // namespace tutti::tool
