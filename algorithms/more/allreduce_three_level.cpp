/// Three-level allreduce: sockets reduce to their leaders, these to their node's, leaders of nodes exchange, and back.
/// Shapes   in[n] -> out[n], elements; scratch on ranks with children up to max(2, k) n, k the radix
/// Cost     h nodes of at most s sockets of at most m ranks: 2 ceil(log_8 m) + 2 ceil(log_8 s) + ceil(log_k h) rounds
///          (up to 2 more if h is no multiple of powers of k); between nodes as two_level, and everything crosses
///          between sockets once each way
/// Needs    a commutative operation; any p >= 1, any n >= 0, any spread over nodes and sockets
/// Source   Karonis et al., IPDPS 2000 (MPICH-G2), with the exchange of Ruefenacht, Bull & Booth 2017
#include "algorithms/phases.hpp"
#include "algorithms/phases_costs.hpp"
#include "algorithms/sockets_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Sockets levels{problem};
  const Region theirs = plan.scratch(levels.combines_inside() ? problem.count : Count{0});
  const Region sum = levels.leads_node() ? plan.output() : plan.scratch(theirs.count);
  Region done = append_inner_reduce(plan, levels, plan.input(), sum, theirs);
  if (levels.leads_node()) {
    plan.within(levels.nodes().leaders(), [&](Rank me, int size) {
      done = append_recursive_multiplying(plan, {me, size, problem.parameter}, done, plan.output());
    });
    plan.copy(done, plan.output());  // only a rank alone has it elsewhere
  }
  append_inner_broadcast(plan, levels, plan.output(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) { return cost_of_allreduce(problem, InnerTrees::of_sockets(problem)); }

}  // namespace

extern const Algorithm allreduce_three_level;
constinit const Algorithm allreduce_three_level{
    .collective = Collective::allreduce,
    .name = "three_level",
    .order = Order::any,
    .levels = Levels::sockets,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "inside sockets, inside nodes, an exchange among leaders of nodes, back: little crosses between sockets",
    .source = "Karonis et al., IPDPS 2000 (MPICH-G2)",
};

}  // namespace tutti
