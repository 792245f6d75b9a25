/// Two-level reduce: up a tree of radix 8 in each node, then up a k-nomial tree over the leaders of nodes.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n on the root, 2n on other ranks with children
/// Cost     h nodes, m ranks on the largest, k the radix: ceil(log_8 m) + ceil(log_k h) rounds; every node but the
///          root's sends n to others, the least that is possible
/// Needs    any associative operation where each node holds ranks that follow each other, else a commutative one; any
///          p >= 1, any n >= 0, any root, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Group leaders = nodes.leaders();
  const GroupTree inside{nodes.mine(), nodes.server(0, nodes.own())};
  const GroupTree across{leaders, nodes.of(problem.root), problem.parameter};
  const bool is_inner = combines(inside) || (nodes.leads() && combines(across));
  const Region theirs = plan.scratch(is_inner ? problem.count : Count{0});
  const Region sum = problem.rank == problem.root ? plan.output() : plan.scratch(theirs.count);
  Region done = append_group_reduce(plan, inside, plan.input(), sum, theirs);
  if (nodes.leads()) done = append_group_reduce(plan, across, done, sum, theirs);
  if (problem.rank == problem.root) plan.copy(done, plan.output());  // only a rank alone has it elsewhere
  return plan.build();
}

Cost cost(const Problem& problem) { return cost_of_reduce(problem, InnerTrees::of_nodes(problem)); }

}  // namespace

extern const Algorithm reduce_two_level;
constinit const Algorithm reduce_two_level{
    .collective = Collective::reduce,
    .name = "two_level",
    .order = Order::of_nodes,
    .levels = Levels::nodes,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "inside nodes, then up a tree over their leaders: everything leaves a node once",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
