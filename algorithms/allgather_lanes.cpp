/// Full-lane allgather: the ranks of a node exchange their blocks; then all that a node has is cut into a slice per
/// lane, which the ranks that serve the lane exchange between nodes and hand on inside their node.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     h nodes: 2 + ceil(log2 h) rounds, one less on nodes of equal size; every node receives each block of the
///          others once, the least that is possible, by all of its ranks
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places, any spread over nodes
/// Source   Traeff & Hunold, IEEE CLUSTER 2020 (full-lane collectives)
#include <algorithm>

#include "circulant_pattern.hpp"
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// The slice of each node's blocks that a lane carries.
Parcels slices(const std::vector<Regions>& of_nodes, const Nodes& nodes, int lane) {
  Parcels slices;
  for (const Regions& regions : of_nodes)
    slices.push_back(share(regions, lane, nodes.lanes()));
  return slices;
}

/// Sends the blocks that a lane brought to all ranks of the node.
void append_inside(ScheduleBuilder& plan, const Nodes& nodes, const Parcels& parcels, int lane) {
  const Rank server = nodes.mine().at(nodes.server(lane, nodes.own()));
  for (int node = 0; node < nodes.count(); ++node) {
    if (node == nodes.own()) continue;
    const Regions& parcel = parcels[static_cast<std::size_t>(node)];
    if (!nodes.serves(lane)) plan.recv(parcel, server);
    for (const Rank member : nodes.mine().ranks)
      if (nodes.serves(lane) && member != server) plan.send(parcel, member);
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks out = output_blocks(problem);
  plan.copy(plan.input(), out[problem.rank.value()]);
  for (const Rank member : nodes.mine().ranks) {
    if (member == problem.rank) continue;
    plan.send(plan.input(), member);
    plan.recv(out[member.value()], member);
  }
  if (nodes.count() == 1) return plan.build();
  std::vector<Regions> of_nodes(static_cast<std::size_t>(nodes.count()));
  for (int rank = 0; rank < problem.size; ++rank)
    Blocks::append(of_nodes[static_cast<std::size_t>(nodes.of(Rank{rank}))], out[rank]);
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    if (nodes.serves(lane)) append_parcel_allgather(plan, nodes.lane(lane), slices(of_nodes, nodes, lane));
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    append_inside(plan, nodes, slices(of_nodes, nodes, lane), lane);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const NodeFigures nodes{Nodes{problem}};
  const Count n = problem.count;
  const Circulant across = Circulant::halving(Rank{0}, nodes.nodes);
  const int messages = static_cast<int>(across.rounds().size()), peers = nodes.lanes - 1, others = nodes.nodes - 1;
  // On equal nodes a lane's slice of its node is the block of the rank that serves it, which nobody waits for.
  const bool waits = others > 0 && nodes.smallest < nodes.lanes;
  return {.messages = nodes.served * (messages + others * peers) + peers,
          .rounds = across.longest_chain() + std::min(peers, 1) + (waits ? 1 : 0),
          .sent = (nodes.served * (others * (1 + peers)) + peers) * n,  // a slice of the largest node's is n
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_lanes;
constinit const Algorithm allgather_lanes{
    .collective = Collective::allgather,
    .name = "lanes",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "every rank of a node exchanges its slice of the node's blocks: every block enters a node once",
    .source = "Traeff & Hunold, IEEE CLUSTER 2020",
};

}  // namespace tutti
