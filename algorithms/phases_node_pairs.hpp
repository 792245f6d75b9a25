#pragma once
// Phases of alltoalls between two nodes. Each appends its steps to a plan.

#include "node_pairs_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Collects what this rank's node has for another, of which this rank gives `given`, in `parcels` of the rank that
/// carries for the pair, one after the other by sender, and exchanges it for what the other node has, which lands in
/// `arrived`. Of other ranks both are unused.
void append_crossing(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Regions& given,
                     const Regions& parcels, const Region& arrived);

/// Hands out what arrived, which lies there by sender and within it by receiver; this rank gets `wanted` of it.
void append_delivery(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Regions& wanted,
                     const PairSizes& sizes, const Region& arrived);

}  // namespace tutti
