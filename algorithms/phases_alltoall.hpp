#pragma once
// Phases of alltoalls. Each appends its steps to a plan.

#include <functional>
#include <vector>

#include "alltoall_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// Sends each block straight to its receiver, at most `window` exchanges at a time. In place, blocks that would be
/// overwritten before they are sent are copied first.
void append_exchanges(ScheduleBuilder& plan, const Problem& problem, const std::vector<BlockExchange>& exchanges,
                      int window);

/// The elements of each block that a rank receives, hop by hop: the problem's count, or the learned sizes.
[[nodiscard]] std::vector<Count> hop_sizes(const Problem& problem, const DigitRoutes& routes);

/// Sends all blocks on their routes. `at`: by distance, the places of the blocks that start here; at the end, those of
/// the blocks that arrived. `stops`: hop by hop, the place where a block is received.
void append_digit_rounds(ScheduleBuilder& plan, const DigitRoutes& routes, Regions& at, const Regions& stops);

/// The whole alltoall of a problem along such routes. Blocks start from the input and end in the output; only those
/// that have to travel on lie in scratch in between: a place for each of two hops or more, and another for three or
/// more.
[[nodiscard]] Schedule alltoall_by_digits(const Problem& problem, const DigitRoutes& routes);

/// Sends sizes along the routes of the blocks: every rank learns the size of each block that it will receive. The
/// routes are those of the radix that is the parameter, or others.
[[nodiscard]] Exchange exchange_hop_sizes(const Problem& problem);
[[nodiscard]] Exchange exchange_hop_sizes(const Problem& problem, const DigitRoutes& routes);

/// The elements of the block that a rank sends to another.
using BlockSize = std::function<Count(int from, int to)>;
/// Sends a block to every other rank along the routes: the one for rank r starts at `from[r]`, and the one of rank r
/// lands at `into[r]`. The routes are those of a radix.
void append_block_exchange(ScheduleBuilder& plan, Rank me, const DigitRoutes& routes, const Regions& from,
                           const Regions& into, const BlockSize& size);
/// Sends every block of `from` to its owner along the routes, which combines them in the order of ranks. All of its
/// operands lie in scratch by then, but its own.
void append_exchanged_reduce_scatter(ScheduleBuilder& plan, Rank me, const DigitRoutes& routes, const Blocks& from,
                                     const Region& result);
/// The operands of this rank's block, by rank, after such an exchange in which the first `senders` ranks take part.
/// Scratch p-1 blocks, and those that travel on.
[[nodiscard]] Regions append_operand_exchange(ScheduleBuilder& plan, Rank me, const DigitRoutes& routes,
                                              const Blocks& from, int senders);
/// The cost of the exchange of all ranks' operands and of their reduction, for blocks of `block` elements.
[[nodiscard]] Cost exchanged_reduce_scatter_cost(int size, int radix, Count block);

/// Scratch for one block of each distance, `sizes[distance]` elements.
[[nodiscard]] Regions scratch_by_distance(ScheduleBuilder& plan, const std::vector<Count>& sizes);

}  // namespace tutti
