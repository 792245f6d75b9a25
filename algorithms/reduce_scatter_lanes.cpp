/// Full-lane reduce_scatter: lane i has the blocks of the i-th ranks of all nodes. Each node reduces them to the rank
/// that serves the lane; those ranks reduce and scatter them between nodes, on a circulant graph.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch up to 3 p blocks where a rank serves all lanes
/// Cost     h nodes, m ranks on the largest: ceil(log_8 m) + ceil(log2 h) rounds;
///          every node sends one sum for each block of the others, the least that is possible, from all of its ranks
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes, any spread over nodes
/// Source   Traeff & Hunold, IEEE CLUSTER 2020 (full-lane collectives)
#include "circulant_pattern.hpp"
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// Reduces the blocks of a lane inside the node. Returns, by node, the sums, which the server of the lane has.
Parcels append_inside(ScheduleBuilder& plan, const Nodes& nodes, const Blocks& in, int lane) {
  const GroupTree tree{nodes.mine(), nodes.server(lane, nodes.own())};
  const Region room = plan.scratch(combines(tree) ? in.largest() : Count{0});
  Parcels parcels(static_cast<std::size_t>(nodes.count()));
  for (int node = 0; node < nodes.count(); ++node) {
    if (lane >= nodes.at(node).size()) continue;
    const Region block = in[nodes.at(node).at(lane).value()];
    const Region sum = plan.scratch(nodes.serves(lane) || combines(tree) ? block.count : Count{0});
    const Region done =
        append_group_reduce(plan, tree, block, sum, room.first(combines(tree) ? block.count : Count{0}));
    if (!nodes.serves(lane)) continue;
    plan.copy(done, sum);  // only a rank alone on its node has it elsewhere
    parcels[static_cast<std::size_t>(node)] = {sum};
  }
  return parcels;
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks in = input_blocks(problem);
  std::vector<Parcels> lanes;
  lanes.reserve(static_cast<std::size_t>(nodes.lanes()));
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    lanes.push_back(append_inside(plan, nodes, in, lane));
  for (int lane = 0; lane < nodes.lanes(); ++lane) {
    if (!nodes.serves(lane)) continue;
    const Parcels& parcels = lanes[static_cast<std::size_t>(lane)];
    append_parcel_reduce_scatter(plan, nodes.lane(lane), parcels);
    if (lane == nodes.mine().me) plan.copy(parcels[static_cast<std::size_t>(nodes.own())], Regions{plan.output()});
  }
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Nodes all{problem};
  const NodeFigures nodes{all};
  const LaneTrees inside{all};
  const Count n = problem.count;
  int fewest = 0;  // blocks of the last lane, which has the fewest
  for (int node = 0; node < nodes.nodes; ++node)
    fewest += all.at(node).size() == nodes.lanes ? 1 : 0;
  const Circulant across = Circulant::halving(Rank{0}, nodes.nodes);
  const int given = problem.size - fewest, crossing = nodes.served * (nodes.nodes - 1);
  const int heads = nodes.lanes > 1 ? nodes.served : 0;
  return {.messages = given + nodes.served * static_cast<int>(across.rounds().size()),
          .rounds = inside.depth + across.longest_chain(),
          .sent = (given + crossing) * n,
          .reduced = (inside.children * nodes.nodes + crossing) * n,
          .copied = ((nodes.smallest > 1 ? 0 : nodes.served * nodes.nodes) + 1) * n,
          .scratch = (inside.inner * (1 + nodes.nodes) + heads + nodes.served * (nodes.nodes + across.partials())) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_lanes;
constinit const Algorithm reduce_scatter_lanes{
    .collective = Collective::reduce_scatter,
    .name = "lanes",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "every rank of a node leads a lane: a sum per block of another node crosses, over all links",
    .source = "Traeff & Hunold, IEEE CLUSTER 2020",
};

}  // namespace tutti
