#pragma once
// The lower bound of the time that any algorithm takes on a machine.

#include <string>

#include "machine.hpp"
#include "simulate.hpp"
#include "tutti/schedule.hpp"

namespace tutti::simulator {

struct Bound {
  Time time = 0;
  std::string reason{};  ///< "rounds", "the links of groups", "reductions", ...
};

/// The largest of these, which hold for every schedule of the collective in the model of simulate():
/// - rounds: by when can word of the last rank have reached all others, if each message takes the least latency of any?
/// - cuts: for the ranks, the hosts and each partition of the topology, what has to leave or enter a group, and all
///   groups together, over the links that lead there;
/// - the results that have to be computed, spread over all processors.
/// No bound knows of noise. `problem`: of any rank; blocks are alike. Cost: p log p, and vertices times partitions.
[[nodiscard]] Bound lower_bound(const Machine& machine, const Problem& problem, const Conditions& conditions);

}  // namespace tutti::simulator
