#pragma once
// An allreduce over lanes: each node reduces a slice of the data per lane to the rank that serves it, and gets it back.

#include "phases_nodes.hpp"

namespace tutti {

/// `across(plan, lane, slice)` reduces a slice over a lane, which this rank serves: in the output, where it is.
template <class Across>
Schedule allreduce_over_lanes(const Problem& problem, const Across& across) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks in{plan.input(), nodes.lanes()}, out{plan.output(), nodes.lanes()};
  for (int lane = 0; lane < nodes.lanes(); ++lane) {
    const GroupTree tree{nodes.mine(), nodes.server(lane, nodes.own())};
    const Region theirs = plan.scratch(combines(tree) ? in[lane].count : Count{0});
    const Region sum = nodes.serves(lane) ? out[lane] : plan.scratch(theirs.count);
    const Region done = append_group_reduce(plan, tree, in[lane], sum, theirs);
    if (nodes.serves(lane)) plan.copy(done, out[lane]);  // only a rank alone on its node has it elsewhere
  }
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    if (nodes.serves(lane) && nodes.count() > 1) across(plan, nodes.lane(lane), out[lane]);
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    append_group_broadcast(plan, {nodes.mine(), nodes.server(lane, nodes.own())}, out[lane], out[lane]);
  return plan.build();
}

/// Its cost, if `across` has each rank send `rounds` messages, one after the other, of twice all blocks of the other
/// nodes in all for a slice, with scratch for `partials` blocks.
inline Cost cost_over_lanes(const Problem& problem, int rounds, int partials) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  const NodeFigures nodes{Nodes{problem}};
  const TreeBounds inside{nodes.lanes, node_radix};
  const int children = nodes.headed() * inside.children;
  const Count slice = nodes.slice(n), block = Blocks{{Buffer::output, Count{0}, slice}, nodes.nodes}.largest();
  const Count crossing = nodes.served * ((nodes.nodes - 1) * block);
  return {.messages = nodes.served * rounds + children + nodes.lanes - 1,
          .rounds = 2 * inside.depth + rounds,
          .sent = 2 * crossing + (children + nodes.lanes - 1) * slice,
          .reduced = crossing + children * slice,
          .copied = nodes.lanes == nodes.served ? n : Count{0},
          .scratch = 2 * (nodes.headed() * slice) + nodes.served * (partials * block)};
}

}  // namespace tutti
