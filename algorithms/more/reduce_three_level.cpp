/// Three-level reduce: up a tree in each socket, over the leaders of a node's sockets, and over the leaders of nodes.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n on the root, 2n on other ranks with children
/// Cost     h nodes of at most s sockets of at most m ranks, k the radix: ceil(log_8 m) + ceil(log_8 s) + ceil(log_k h)
///          rounds; every socket but its node's leader's sends n to others of the node, every node but the root's n
/// Needs    a commutative operation; any p >= 1, any n >= 0, any root, any spread over nodes and sockets
/// Source   Karonis et al., IPDPS 2000 (MPICH-G2)
#include "algorithms/phases_costs.hpp"
#include "algorithms/sockets_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Sockets levels{problem};
  const Group leaders = levels.nodes().leaders();
  const GroupTree across{leaders, levels.nodes().of(problem.root), problem.parameter};
  const bool is_inner = levels.combines_inside() || (levels.leads_node() && combines(across));
  const Region theirs = plan.scratch(is_inner ? problem.count : Count{0});
  const Region sum = problem.rank == problem.root ? plan.output() : plan.scratch(theirs.count);
  Region done = append_inner_reduce(plan, levels, plan.input(), sum, theirs);
  if (levels.leads_node()) done = append_group_reduce(plan, across, done, sum, theirs);
  if (problem.rank == problem.root) plan.copy(done, plan.output());  // only a rank alone has it elsewhere
  return plan.build();
}

Cost cost(const Problem& problem) { return cost_of_reduce(problem, InnerTrees::of_sockets(problem)); }

}  // namespace

extern const Algorithm reduce_three_level;
constinit const Algorithm reduce_three_level{
    .collective = Collective::reduce,
    .name = "three_level",
    .order = Order::any,
    .levels = Levels::sockets,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "inside sockets, inside nodes, then up a tree over leaders of nodes: everything leaves a socket once",
    .source = "Karonis et al., IPDPS 2000 (MPICH-G2)",
};

}  // namespace tutti
