/// Full-lane allreduce: each node reduces a slice of the data per lane to the rank that serves it; the slices are
/// reduced over the nodes on circulant graphs, all lanes at once, and then handed to all ranks of each node.
/// Shapes   in[n] -> out[n], elements; scratch at most 2n
/// Cost     h nodes, m ranks on the largest: 2 ceil(log_8 m) + 2 ceil(log2 h) rounds; a node sends 2n(h-1)/h elements
///          to others if h and m divide the count, the least that is possible, from all of its ranks
/// Needs    commutative operation; any p >= 1, any n >= 0, any spread over nodes
/// Source   Traeff & Hunold, IEEE CLUSTER 2020 (full-lane collectives); Bayatpour et al., SC 2017 (DPML)
#include "phases.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// What this rank has of a slice after its node has reduced it.
Region append_inside(ScheduleBuilder& plan, const GroupTree& tree, const Region& slice, bool is_server) {
  const Region theirs = plan.scratch(combines(tree) ? slice.count : Count{0});
  const Region sum = is_server ? slice.in(Buffer::output) : plan.scratch(theirs.count);
  return append_group_reduce(plan, tree, slice, sum, theirs);
}

/// Reduces a slice over the nodes.
void append_across(ScheduleBuilder& plan, const Group& lane, const Region& slice) {
  plan.within(lane, [&](Rank me, int size) {
    if (size == 1) return;
    const Circulant circle = Circulant::halving(me, size);
    const Blocks blocks{slice, size};
    const Arcs arcs = circle.arcs(blocks);
    append_circulant_reduce_scatter(plan, circle, arcs, arcs, blocks[me.value()], false);
    append_circulant_allgather(plan, circle, blocks[me.value()], arcs);
  });
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks in{plan.input(), nodes.lanes()}, out{plan.output(), nodes.lanes()};
  for (int lane = 0; lane < nodes.lanes(); ++lane) {
    const GroupTree tree{nodes.mine(), nodes.server(lane, nodes.own())};
    const Region done = append_inside(plan, tree, in[lane], nodes.serves(lane));
    if (nodes.serves(lane)) plan.copy(done, out[lane]);  // only a rank alone on its node has it elsewhere
  }
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    if (nodes.serves(lane)) append_across(plan, nodes.lane(lane), out[lane]);
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    append_group_broadcast(plan, {nodes.mine(), nodes.server(lane, nodes.own())}, out[lane], out[lane]);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  const NodeFigures nodes{Nodes{problem}};
  const Circulant across = Circulant::halving(Rank{0}, nodes.nodes);
  const TreeBounds inside{nodes.lanes, node_radix};
  const int rounds = static_cast<int>(across.rounds().size()), children = nodes.headed() * inside.children;
  const Count slice = nodes.slice(n), block = Blocks{{Buffer::output, Count{0}, slice}, nodes.nodes}.largest();
  const Count crossing = nodes.served * ((nodes.nodes - 1) * block);
  return {.messages = 2 * nodes.served * rounds + children + nodes.lanes - 1,
          .rounds = 2 * inside.depth + 2 * rounds,
          .sent = 2 * crossing + (children + nodes.lanes - 1) * slice,
          .reduced = crossing + children * slice,
          .copied = nodes.lanes == nodes.served ? n : Count{0},
          .scratch = 2 * (nodes.headed() * slice) + nodes.served * (across.partials() * block)};
}

}  // namespace

extern const Algorithm allreduce_lanes;
constinit const Algorithm allreduce_lanes{
    .collective = Collective::allreduce,
    .name = "lanes",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "every rank of a node leads its slice: the least volume between nodes, over all links",
    .source = "Traeff & Hunold, IEEE CLUSTER 2020; Bayatpour et al., SC 2017",
};

}  // namespace tutti
