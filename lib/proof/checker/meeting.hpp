#pragma once
// The property that makes a collective a barrier.

#include "graph.hpp"

namespace tutti::checker {

/// Refutes steps by which a rank may complete all of its own before some rank has entered: started any of its steps
/// that wait for nothing. `order` keeps every edge. O(events times ranks / 64).
void require_meeting(const Graph& graph, const std::vector<int>& order, int ranks);

}  // namespace tutti::checker
