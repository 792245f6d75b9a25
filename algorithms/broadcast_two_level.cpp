/// Two-level broadcast: down a k-nomial tree or a chain of the leaders of nodes, and a tree of radix 8 in each node.
/// Shapes   in[n] on the root -> out[n], elements; no scratch
/// Cost     h nodes, m ranks on the largest, k the radix: ceil(log_k h) + ceil(log_8 m) rounds, h - 1 of them among
///          leaders if k is 1; every node but the root's receives n from others, the least that is possible
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Region from = problem.rank == problem.root ? plan.input() : plan.output();
  if (nodes.leads())
    append_group_broadcast(plan, {nodes.leaders(), nodes.of(problem.root), problem.parameter}, from, plan.output());
  append_group_broadcast(plan, {nodes.mine(), nodes.server(0, nodes.own())}, from, plan.output());
  if (problem.rank == problem.root) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) { return cost_of_broadcast(problem, InnerTrees::of_nodes(problem)); }

}  // namespace

extern const Algorithm broadcast_two_level;
constinit const Algorithm broadcast_two_level{
    .collective = Collective::broadcast,
    .name = "two_level",
    .order = Order::any,
    .levels = Levels::nodes,
    .parameter = {.name = "radix", .fallback = 2, .least = 1},
    .build = build,
    .cost = cost,
    .summary = "down a tree over the leaders of nodes, then inside nodes: everything enters a node once",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
