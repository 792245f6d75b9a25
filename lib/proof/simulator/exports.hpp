#pragma once
// Schedules and networks as other simulators read them.

#include <functional>
#include <string_view>

#include "lib/proof/cost/joined_schedules.hpp"
#include "machine.hpp"

namespace tutti::simulator {

/// Writes GOAL, the text that LogGOPSim and ATLAHS read: sends and receives with their bytes, reductions and copies as
/// whole nanoseconds at these rates. A message without data has 1 byte, as there is none of 0.
void write_goal(const JoinedSchedules& joined, const Rates& rates, std::int64_t element,
                const std::function<void(std::string_view piece)>& write);

/// Writes a platform of SimGrid: hosts "h0", "h1", ..., the links of the topology, and a route for every two hosts.
void write_platform(const Topology& topology, const std::function<void(std::string_view piece)>& write);

}  // namespace tutti::simulator
