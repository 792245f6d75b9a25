/// Three-level broadcast: down a tree over the leaders of nodes, the leaders of a node's sockets, and each socket.
/// Shapes   in[n] on the root -> out[n], elements; no scratch
/// Cost     h nodes of at most s sockets of at most m ranks, k the radix: ceil(log_k h) + ceil(log_8 s) + ceil(log_8 m)
///          rounds, h - 1 of them among leaders of nodes if k is 1; everything enters a node, and a socket, once
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes and sockets
/// Source   Karonis et al., IPDPS 2000 (MPICH-G2)
#include "algorithms/phases_costs.hpp"
#include "algorithms/sockets_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Sockets levels{problem};
  const Nodes& nodes = levels.nodes();
  const Region from = problem.rank == problem.root ? plan.input() : plan.output();
  if (nodes.leads())
    append_group_broadcast(plan, {nodes.leaders(), nodes.of(problem.root), problem.parameter}, from, plan.output());
  append_inner_broadcast(plan, levels, from, plan.output());
  if (problem.rank == problem.root) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) { return cost_of_broadcast(problem, InnerTrees::of_sockets(problem)); }

}  // namespace

extern const Algorithm broadcast_three_level;
constinit const Algorithm broadcast_three_level{
    .collective = Collective::broadcast,
    .name = "three_level",
    .order = Order::any,
    .levels = Levels::sockets,
    .parameter = {.name = "radix", .fallback = 2, .least = 1},
    .build = build,
    .cost = cost,
    .summary = "down a tree over leaders of nodes, inside nodes, inside sockets: everything enters a socket once",
    .source = "Karonis et al., IPDPS 2000 (MPICH-G2)",
};

}  // namespace tutti
