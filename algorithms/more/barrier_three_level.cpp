/// Three-level barrier: ranks tell their socket's leader, these their node's, leaders of nodes disseminate, and back.
/// Shapes   no data, no scratch
/// Cost     h nodes of at most s sockets of at most m ranks, k the radix: 4 + ceil(log_k h) rounds; a leader of a node
///          sends m-1 + s-1 signals inside it and at most (k-1) ceil(log_k h) to others
/// Needs    any p >= 1, any spread over nodes and sockets
/// Source   Hensgen, Finkel & Manber, International Journal of Parallel Programming 17(1), 1988, among leaders as in
///          Karonis et al., IPDPS 2000 (MPICH-G2)
#include "algorithms/dissemination_pattern.hpp"
#include "algorithms/sockets_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Sockets levels{problem};
  if (append_group_gathering(plan, levels.socket())) {
    if (append_group_gathering(plan, levels.node()))
      append_group_dissemination(plan, levels.nodes().leaders(), problem.parameter);
    append_group_release(plan, levels.node());
  }
  append_group_release(plan, levels.socket());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Sockets levels{problem};
  const Cost across = dissemination_cost(levels.nodes().count(), problem.parameter);
  const auto [in_socket, in_node] = levels.most_others();
  return {.messages = in_socket + in_node + across.messages,
          .rounds = (in_socket > 0 ? 2 : 0) + (in_node > 0 ? 2 : 0) + across.rounds};
}

}  // namespace

extern const Algorithm barrier_three_level;
constinit const Algorithm barrier_three_level{
    .collective = Collective::barrier,
    .name = "three_level",
    .order = Order::any,
    .levels = Levels::sockets,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "signals to leaders of sockets, of nodes, a dissemination among these, and back",
    .source = "Karonis et al., IPDPS 2000 (MPICH-G2)",
};

}  // namespace tutti
