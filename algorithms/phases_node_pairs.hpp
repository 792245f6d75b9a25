#pragma once
// Phases of alltoalls between two nodes. Each appends its steps to a plan.

#include "node_pairs_pattern.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Collects the blocks of this rank's node for another node in `parcels` of the rank that carries for the pair, one
/// after the other by sender; this rank gives `given`. The carrier exchanges them for the other node's blocks, which
/// land in `arrived`. On other ranks `parcels` and `arrived` are unused.
void append_crossing(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Regions& given,
                     const Regions& parcels, const Region& arrived);

/// Hands out the blocks in `arrived`, by sender and within it by receiver; this rank's blocks land in `wanted`.
void append_delivery(ScheduleBuilder& plan, const Nodes& nodes, const NodePair& pair, const Regions& wanted,
                     const PairSizes& sizes, const Region& arrived);

}  // namespace tutti
