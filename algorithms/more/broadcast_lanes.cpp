/// Full-lane broadcast: the data are cut into a slice per lane; each goes down a binomial tree over the nodes, among
/// the ranks that serve its lane, and from them to the rest of their nodes.
/// Shapes   in[n] on the root -> out[n], elements; no scratch
/// Cost     h nodes, m ranks on the largest: 2 ceil(log_8 m) + ceil(log2 h) rounds; every node but the root's receives
///          n from others, the least that is possible, by all of its ranks
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes
/// Source   Traeff & Hunold, IEEE CLUSTER 2020 (full-lane collectives)
#include "algorithms/phases_costs.hpp"
#include "algorithms/phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

constexpr int lane_radix = 2;

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const int roots = nodes.of(problem.root), own = nodes.own();
  const Blocks from{problem.rank == problem.root ? plan.input() : plan.output(), nodes.lanes()};
  const Blocks into{plan.output(), nodes.lanes()};
  const GroupTree from_root{nodes.mine(), nodes.server(0, own)};
  if (own == roots)
    for (int lane = 0; lane < nodes.lanes(); ++lane)
      append_group_broadcast(plan, from_root, from[lane], into[lane]);
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    if (nodes.serves(lane)) append_group_broadcast(plan, {nodes.lane(lane), roots, lane_radix}, from[lane], into[lane]);
  if (own != roots)
    for (int lane = 0; lane < nodes.lanes(); ++lane)
      append_group_broadcast(plan, {nodes.mine(), nodes.server(lane, own)}, into[lane], into[lane]);
  if (problem.rank == problem.root) plan.copy(plan.input(), plan.output());
  return plan.build();
}

/// The longest way from the root to a rank of another node, along any of the lanes.
int longest_way(const Nodes& nodes, const Problem& problem, int across) {
  int longest = 0;
  const int home = nodes.of(problem.root);
  for (int node = 0; node < nodes.count(); ++node)
    for (int lane = 0; node != home && lane < nodes.lanes(); ++lane) {
      const int before = knomial_depth(Rank{nodes.server(lane, home)}, nodes.at(home).size(),
                                       Rank{nodes.place(problem.root)}, node_radix);
      const int after = group_shape(nodes.at(node).size(), nodes.server(lane, node), node_radix).depth;
      longest = std::max(longest, before + across + after);
    }
  return longest;
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const Nodes all{problem};
  const NodeFigures nodes{all};
  const int home = all.of(problem.root);
  const KnomialShape across = group_shape(nodes.nodes, home, lane_radix);
  const KnomialShape at_root = group_shape(all.at(home).size(), all.place(problem.root), node_radix);
  const int inside = nodes.nodes > 1 ? LaneTrees{all}.children : 0;
  const int at_home = nodes.served * across.root_children, away = nodes.served * across.inner_children + inside;
  const Count slice = nodes.slice(n);
  return {.messages = std::max(at_home + nodes.lanes * at_root.most_children(), away),
          .rounds = std::max(at_root.depth, longest_way(all, problem, across.depth)),
          .sent = std::max(at_home * slice + at_root.most_children() * n, away * slice),
          .copied = n};
}

}  // namespace

extern const Algorithm broadcast_lanes;
constinit const Algorithm broadcast_lanes{
    .collective = Collective::broadcast,
    .name = "lanes",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "every rank of a node leads its slice: everything enters a node once, over all links",
    .source = "Traeff & Hunold, IEEE CLUSTER 2020",
};

}  // namespace tutti
