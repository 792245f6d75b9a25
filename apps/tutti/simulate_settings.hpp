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
  double noise = 0;
  std::uint64_t seed = 1;
  bool shows_details = false;
};

/// The machine with what it refers to, and what else the runs have in common.
struct SimulatedMachine {
  explicit SimulatedMachine(const SimulationSettings& settings);

  simulator::Rates rates;
  std::unique_ptr<simulator::Topology> topology;
  simulator::Machine machine;
  simulator::Conditions conditions;
  std::vector<int> nodes, sockets;  ///< As in Problem.
};

/// A rank or a range of them, and a time: "3:10,8-15:2.5", in microseconds. The start of each rank. Throws InputError.
[[nodiscard]] std::vector<simulator::Time> late_starts(const std::string& text, int ranks);

}  // namespace tutti::tool
