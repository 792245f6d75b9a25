/// Two-level allreduce: nodes reduce to their leaders, which exchange by recursive multiplying, and tell their nodes.
/// Shapes   in[n] -> out[n], elements; scratch on leaders k n, k the radix
/// Cost     h nodes, m ranks on the largest: 2 ceil(log_8 m) + ceil(log_k h) rounds (up to 2 more if h is no multiple
///          of powers of k); a leader sends at most (k-1) ceil(log_k h) + 1 times n to other nodes
/// Needs    any associative operation where each node holds ranks that follow each other, else a commutative one; any
///          p >= 1, any n >= 0, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe), with the exchange of Ruefenacht, Bull & Booth 2017
#include "phases.hpp"
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const GroupTree inside{nodes.mine(), nodes.server(0, nodes.own())};
  const bool has_children = combines(inside);
  const Region theirs = plan.scratch(has_children ? problem.count : Count{0});
  const Region sum = nodes.leads() ? plan.output() : plan.scratch(theirs.count);
  Region done = append_group_reduce(plan, inside, plan.input(), sum, theirs);
  if (nodes.leads()) {
    plan.within(nodes.leaders(), [&](Rank me, int size) {
      done = append_recursive_multiplying(plan, {me, size, problem.parameter}, done, plan.output());
    });
    plan.copy(done, plan.output());  // only a rank alone has it elsewhere
  }
  append_group_broadcast(plan, inside, plan.output(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) { return cost_of_allreduce(problem, InnerTrees::of_nodes(problem)); }

}  // namespace

extern const Algorithm allreduce_two_level;
constinit const Algorithm allreduce_two_level{
    .collective = Collective::allreduce,
    .name = "two_level",
    .order = Order::of_nodes,
    .levels = Levels::nodes,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "inside nodes, an exchange among their leaders, back: few messages cross, for small counts",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
