#pragma once
// Schedules run in an order drawn at random. Proves nothing, but tests what the proof says.

#include <cstdint>

#include "expectation.hpp"
#include "memory.hpp"

namespace tutti::checker {

/// Runs all steps over eager messages; whatever may happen next is equally likely. A send reads its regions at any time
/// between its start and its completion, the message arrives at any time after, a reduction or a copy works just before
/// it completes, and a receive spoils its regions as soon as it starts. Refutes a run that gets stuck or reads garbage.
void run_at_random(std::uint64_t seed, const Graph& graph, Memory& memory, Values& values);

/// What is wrong after such a run of `parts`; empty if nothing is.
[[nodiscard]] std::string fault_at_random(std::uint64_t seed, const Parts& parts, const Expectation& expectation);

}  // namespace tutti::checker
