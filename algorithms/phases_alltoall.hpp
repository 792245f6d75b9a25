#pragma once
// Phases of alltoalls. Each appends its steps to a plan.

#include <vector>

#include "alltoall_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Each block goes straight where it belongs, at most `window` exchanges at a time. In place, blocks that would be
/// overwritten before they are sent are copied first.
void append_exchanges(ScheduleBuilder& plan, const Problem& problem, const std::vector<BlockExchange>& exchanges,
                      int window);

/// Elements of the blocks that a rank receives, hop by hop: all of the problem's count, or what it has learned.
[[nodiscard]] std::vector<Count> hop_sizes(const Problem& problem, const DigitRoutes& routes);

/// Sends all blocks on their routes. `at`: by distance, where those lie that start here; at the end, where those lie
/// that arrived. `stops`: hop by hop, where a block is received.
void append_digit_rounds(ScheduleBuilder& plan, const DigitRoutes& routes, Regions& at, const Regions& stops);

/// The same routes with sizes for blocks: every rank learns the size of each block that it will receive, hop by hop.
[[nodiscard]] Exchange exchange_hop_sizes(const Problem& problem);

/// Scratch for one block of each distance, `sizes[distance]` elements.
[[nodiscard]] Regions scratch_by_distance(ScheduleBuilder& plan, const std::vector<Count>& sizes);

}  // namespace tutti
