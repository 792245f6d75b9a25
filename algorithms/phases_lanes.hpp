#pragma once
// An allreduce over lanes: each node reduces a slice of the data per lane to the rank that serves it, and gets it back.

#include "phases_costs.hpp"
#include "phases_nodes.hpp"

namespace tutti {

/// `across(plan, lane, slice)` reduces a slice over a lane that this rank serves, in the output, where the slice is.
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

/// The cost of `across` for each rank and slice.
struct AcrossLanes {
  int messages = 0, rounds = 0;
  Count sent, reduced;
  Count room;  ///< Elements of scratch.
  /// If a slice is cut into a block per node: a rank sends all blocks of the other nodes twice, and reduces them once.
  /// `room`: blocks of scratch.
  static AcrossLanes of_blocks(const Problem& problem, int messages, int rounds, int room) {
    const NodeFigures nodes{Nodes{problem}};
    const Region slice{Buffer::output, Count{0}, nodes.slice(problem.count)};
    const Count block = Blocks{slice, nodes.nodes}.largest(), others = (nodes.nodes - 1) * block;
    return {messages, rounds, 2 * others, others, room * block};
  }
};
inline Cost cost_over_lanes(const Problem& problem, const AcrossLanes& across) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  const Nodes all{problem};
  const NodeFigures nodes{all};
  const LaneTrees inside{all};
  const Count slice = nodes.slice(n);
  const int heads = nodes.lanes > 1 ? nodes.served : 0;  // roots of trees need no room for the sum, which is the output
  return {.messages = nodes.served * across.messages + inside.children + nodes.lanes - 1,
          .rounds = 2 * inside.depth + across.rounds,
          .sent = nodes.served * across.sent + (inside.children + nodes.lanes - 1) * slice,
          .reduced = nodes.served * across.reduced + inside.children * slice,
          .copied = nodes.lanes == nodes.served ? n : Count{0},
          .scratch = (2 * inside.inner + heads) * slice + nodes.served * across.room};
}

}  // namespace tutti
