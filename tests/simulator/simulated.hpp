#pragma once
// Schedules, simulated on a machine.

#include <string>
#include <string_view>
#include <vector>

#include "lib/core/schedule/passes.hpp"
#include "lib/proof/checker/problems.hpp"
#include "lib/proof/simulator/bound.hpp"
#include "lib/proof/simulator/path.hpp"
#include "lib/proof/simulator/simulate.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti::simulator {

/// All messages leave at once, and only links take time: half a microsecond each, and 12.5 GB/s.
inline Rates links_alone() {
  Rates rates;
  rates.overhead = rates.handshake = rates.reduced = rates.copied = 0;
  rates.eager = 0;
  rates.network.latency = 0;
  return rates;
}

/// `ppn` ranks on each host, one after the other, on one socket.
inline Placement in_blocks(int ranks, int ppn = 1) {
  Placement placement;
  for (int rank = 0; rank < ranks; ++rank) {
    placement.host_of.push_back(rank / ppn);
    placement.socket_of.push_back(rank / ppn);
  }
  return placement;
}

inline Problem problem_of(const Algorithm& algorithm, int ranks, Count count) {
  Problem problem{Rank{0}, ranks, count};
  problem.collective = algorithm.collective;
  problem.parameter = algorithm.parameter.fallback;
  return problem;
}

inline JoinedSchedules joined_schedules(const Algorithm& algorithm, Problem problem) {
  JoinedSchedules joined;
  for (int rank = 0; rank < problem.size; ++rank) {
    problem.rank = Rank{rank};
    joined.add(algorithm.build(problem));
  }
  return joined;
}

using Build = void (*)(ScheduleBuilder& plan, Rank rank);
/// The schedules of all ranks, whose buffers have `count` elements.
inline JoinedSchedules written(int size, Count count, Build build) {
  JoinedSchedules joined;
  for (int rank = 0; rank < size; ++rank) {
    ScheduleBuilder plan{{Rank{rank}, size, count}, count, count};
    build(plan, Rank{rank});
    joined.add(plan.build());
  }
  return joined;
}

inline double microseconds(Time time) { return static_cast<double>(time) * 1e-6; }

/// On a crossbar with a host for each rank.
inline Outcome run(const JoinedSchedules& joined, const Rates& rates, const Conditions& conditions = {}) {
  const auto topology = crossbar(joined.ranks, rates.link);
  return simulate(joined, Machine{*topology, in_blocks(joined.ranks), rates}, conditions);
}

}  // namespace tutti::simulator
