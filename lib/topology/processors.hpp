#pragma once

#include "lib/topology/topology.hpp"

namespace tutti::topology {

/// The processors on which this process may run, as the system numbers them.
[[nodiscard]] Numbers allowed_processors();

/// Fills in the machine's parts, and those that have one of the binding's processors. Where that is impossible, adds
/// the reason to `machine.missing`.
void find_parts(Machine& machine, Binding& binding);

}  // namespace tutti::topology
