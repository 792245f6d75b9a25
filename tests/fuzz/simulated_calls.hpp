#pragma once
// Calls on the simulator's machine, whose numbers a fuzzer has chosen.

#include <stdexcept>

#include "tests/fuzz/target.hpp"
#include "tests/simulator/simulated.hpp"

namespace tutti::fuzz {

/// Every host has `ranks_a_host` ranks.
inline void require_no_faster_than_the_bound(const simulator::Topology& topology, const simulator::Rates& rates,
                                             int ranks_a_host) {
  const int ranks = topology.hosts() * ranks_a_host;
  const simulator::Machine machine{topology, simulator::in_blocks(ranks, ranks_a_host), rates};
  for (const auto& [collective, name] : {std::pair{Collective::allreduce, "ring"},
                                         {Collective::allreduce, "recursive_doubling"},
                                         {Collective::alltoall, "bruck"}})
    for (const Count count : {Count{1}, Count{10'000}}) {
      const Problem problem = simulator::problem_of(*find_algorithm(collective, name), ranks, count);
      const auto joined = simulator::joined_schedules(*find_algorithm(collective, name), problem);
      const simulator::Time time = simulator::simulate(joined, machine, {}).time;
      const simulator::Time bound = simulator::lower_bound(machine, problem, {}).time;
      // Times are rounded: by less than a picosecond a step, and a 2^40th.
      require(time >= bound - bound / (simulator::Time{1} << 40) - 100, "a call is faster than can be");
    }
}

}  // namespace tutti::fuzz
