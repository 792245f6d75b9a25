/// Two-level barrier: ranks tell the leader of their node, leaders disseminate, and leaders tell their nodes.
/// Shapes   no data, no scratch
/// Cost     h nodes, m ranks on the largest, k the radix: 2 + ceil(log_k h) rounds; a leader sends m-1 signals inside
///          its node and at most (k-1) ceil(log_k h) to others
/// Needs    any p >= 1, any spread over nodes
/// Source   Hensgen, Finkel & Manber, International Journal of Parallel Programming 17(1), 1988, among leaders as in
///          Kielmann et al., PPoPP 1999 (MagPIe)
#include "dissemination_pattern.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const GroupTree inside{nodes.mine(), nodes.server(0, nodes.own())};
  if (append_group_gathering(plan, inside)) append_group_dissemination(plan, nodes.leaders(), problem.parameter);
  append_group_release(plan, inside);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Nodes nodes{problem};
  const Cost across = dissemination_cost(nodes.count(), problem.parameter);
  return {.messages = nodes.lanes() - 1 + across.messages, .rounds = (nodes.lanes() > 1 ? 2 : 0) + across.rounds};
}

}  // namespace

extern const Algorithm barrier_two_level;
constinit const Algorithm barrier_two_level{
    .collective = Collective::barrier,
    .name = "two_level",
    .order = Order::any,
    .levels = Levels::nodes,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "signals to the leader of each node, a dissemination among leaders, and back",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
