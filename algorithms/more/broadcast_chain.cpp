/// Broadcast along the chain of ranks from the root on. For large counts in segments, which follow each other.
/// Shapes   in[n] -> out[n], elements; no scratch
/// Cost     p-1 rounds; one message of n elements per rank
/// Needs    any p >= 1, any n >= 0, any root
/// Source   folklore
#include "algorithms/phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  append_tree_broadcast(plan, chain_place(problem.rank, problem.size, problem.root), plan.input(), plan.output());
  if (problem.rank == problem.root) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 1, .rounds = problem.size - 1, .sent = n, .copied = n};
}

}  // namespace

extern const Algorithm broadcast_chain;
constinit const Algorithm broadcast_chain{
    .collective = Collective::broadcast,
    .name = "chain",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "from rank to rank: least volume, for large counts in segments",
    .source = "folklore",
};

}  // namespace tutti
