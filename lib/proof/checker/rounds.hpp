#pragma once
// The rounds that Cost::rounds counts: chains of messages, each sent only after the one before arrived.

#include <vector>

#include "graph.hpp"

namespace tutti::checker {

/// For each event, the longest chain of messages that arrived by then, if every send completes by itself. `order` has
/// all events, each after those that it waits for (Graph::order of any kind of flow control).
[[nodiscard]] std::vector<int> chains_of(const Graph& graph, const std::vector<int>& order);

/// The round of each step of each rank, from 1: a message belongs to the round of its place in the longest chain that
/// it ends, a reduction or a copy to that of the last message which it waits for. The largest is Cost::rounds, unless
/// there are no messages. The schedules must have been proved.
[[nodiscard]] std::vector<std::vector<int>> rounds_of(const RankSchedules& schedules);

}  // namespace tutti::checker
