/// Full-lane reduce: each node reduces a slice of the data per lane to the rank that serves the lane; the slices go up
/// binomial trees over the nodes, and to the root from the ranks of its node.
/// Shapes   in[n] -> out[n] on the root, elements; scratch at most 2n
/// Cost     h nodes, m ranks on the largest: ceil(log_8 m) + ceil(log2 h) + 1 rounds; every node but the root's sends n
///          to others, the least that is possible, by all of its ranks
/// Needs    any associative operation where each node holds ranks that follow each other, else a commutative one; any
///          p >= 1, any n >= 0, any root, any spread over nodes
/// Source   Traeff & Hunold, IEEE CLUSTER 2020 (full-lane collectives)
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

constexpr int lane_radix = 2;

/// Reduces a slice; returns the place where the root's node has it.
Region append_lane(ScheduleBuilder& plan, const Nodes& nodes, const Problem& problem, int lane) {
  const Region slice = Blocks{plan.input(), nodes.lanes()}[lane];
  const Group servers = nodes.lane(lane);
  const GroupTree inside{nodes.mine(), nodes.server(lane, nodes.own())};
  const GroupTree across{servers, nodes.of(problem.root), lane_radix};
  const bool is_inner = combines(inside) || (nodes.serves(lane) && combines(across));
  const Region theirs = plan.scratch(is_inner ? slice.count : Count{0});
  const bool at_end = problem.rank == problem.root && nodes.serves(lane);
  const Region sum = at_end ? slice.in(Buffer::output) : plan.scratch(theirs.count);
  const Region done = append_group_reduce(plan, inside, slice, sum, theirs);
  return nodes.serves(lane) ? append_group_reduce(plan, across, done, sum, theirs) : done;
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const bool at_root = problem.rank == problem.root;
  std::vector<Region> sums;
  sums.reserve(static_cast<std::size_t>(nodes.lanes()));
  for (int lane = 0; lane < nodes.lanes(); ++lane)
    sums.push_back(append_lane(plan, nodes, problem, lane));
  if (nodes.own() != nodes.of(problem.root)) return plan.build();
  for (int lane = 0; lane < nodes.lanes(); ++lane) {
    const Rank server = nodes.mine().at(nodes.server(lane, nodes.own()));
    const Region& sum = sums[static_cast<std::size_t>(lane)];
    const Region slice = at_root ? Blocks{plan.output(), nodes.lanes()}[lane] : sum;
    if (at_root && server == problem.rank) plan.copy(sum, slice);  // only a rank alone has it elsewhere
    if (at_root && server != problem.rank) plan.recv(slice, server);
    if (!at_root && nodes.serves(lane)) plan.send(sum, problem.root);
  }
  return plan.build();
}

/// The most slices that a rank has scratch for: two for each lane in whose trees it has children, but one where the
/// sum of the root's own lane is the output.
int most_slices(const Nodes& nodes, const NodeFigures& figures, const KnomialShape& across, Rank root) {
  if (figures.lanes == 1) return across.inner_children > 0 ? 2 : 1;
  if (figures.nodes > 1) return 2 * (LaneTrees{nodes}.inner + figures.served);
  int most = 0;
  for (int place = 0; place < figures.lanes; ++place)
    most = std::max(
        most, 2 * load_of_all_roots(Rank{place}, figures.lanes, node_radix).inner + (Rank{place} == root ? 1 : 2));
  return most;
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  const Nodes all{problem};
  const NodeFigures nodes{all};
  const Count slice = nodes.slice(n);
  const KnomialShape across = group_shape(nodes.nodes, all.of(problem.root), lane_radix);
  const LaneTrees inside{all};
  const int most = nodes.lanes - 1 + nodes.served;
  return {.messages = most,
          .rounds = across.depth + inside.depth + (nodes.lanes > 1 ? 1 : 0),
          .sent = most * slice,
          .reduced = (inside.children + nodes.served * across.most_children()) * slice,
          .scratch = most_slices(all, nodes, across, problem.root) * slice};
}

}  // namespace

extern const Algorithm reduce_lanes;
constinit const Algorithm reduce_lanes{
    .collective = Collective::reduce,
    .name = "lanes",
    .order = Order::of_nodes,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "every rank of a node leads its slice: everything leaves a node once, over all links",
    .source = "Traeff & Hunold, IEEE CLUSTER 2020",
};

}  // namespace tutti
