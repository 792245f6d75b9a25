/// Full-lane allreduce by Swing: as lanes, but the slices are reduced over the nodes at distances 1, -1, 3, -5, 11, ...
/// Shapes   in[n] -> out[n], elements; scratch at most 2n
/// Cost     h nodes, m ranks on the largest: 2 ceil(log_8 m) + 2 log2 h rounds; if h is a power of two and h and m
/// divide
///          the count, a node sends 2n(h-1)/h elements to others, the least that is possible, from all of its ranks;
///          else 2 rounds more, and the nodes of a pair exchange n besides
/// Needs    commutative operation; any p >= 1, any n >= 0, any spread over nodes
/// Source   De Sensi, Bonato, Saam & Hoefler, NSDI 2024, on the lanes of Traeff & Hunold, IEEE CLUSTER 2020
#include "algorithms/phases_lanes.hpp"
#include "algorithms/phases_swing.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

void append_across(ScheduleBuilder& plan, const Group& lane, const Region& slice) {
  plan.within(lane, [&](Rank me, int size) { append_swing(plan, {me, size}, slice, slice); });
}

Schedule build(const Problem& problem) { return allreduce_over_lanes(problem, append_across); }

Cost cost(const Problem& problem) {
  const NodeFigures nodes{Nodes{problem}};
  const Cost swing = cost_of_swing(nodes.nodes, nodes.slice(problem.count));
  return cost_over_lanes(problem, {swing.messages, swing.rounds, swing.sent, swing.reduced, swing.scratch});
}

}  // namespace

extern const Algorithm allreduce_lane_swing;
constinit const Algorithm allreduce_lane_swing{
    .collective = Collective::allreduce,
    .name = "lane_swing",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "as lanes, but with Swing over the nodes: for nodes in a row on a ring, a torus or in groups",
    .source = "De Sensi et al., NSDI 2024; Traeff & Hunold, IEEE CLUSTER 2020",
};

}  // namespace tutti
