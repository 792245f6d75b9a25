#pragma once
// Schedules run in an order drawn at random. Proves nothing, but tests the claims of the proof.

#include <cstdint>

#include "expectation.hpp"
#include "memory.hpp"

namespace tutti::checker {

/// Runs all steps over eager messages; all events that may happen next are equally likely. A send reads its regions at
/// any time between its start and its completion, the message arrives at any time after, a reduction or a copy works
/// just before it completes, and a receive spoils its regions as soon as it starts. Refutes a run that gets stuck or
/// reads garbage.
void run_at_random(std::uint64_t seed, const Graph& graph, Memory& memory, Values& values);

/// The fault of a random run of `schedules`; empty if there is none.
[[nodiscard]] std::string fault_at_random(std::uint64_t seed, const RankSchedules& schedules,
                                          const Expectation& expectation);

}  // namespace tutti::checker
