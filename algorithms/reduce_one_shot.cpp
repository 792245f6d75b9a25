/// One-shot reduce: everybody sends everything to the root, which combines it in the order of ranks.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n(p-1) on the root
/// Cost     1 round of 1 message; n elements sent per rank, n(p-1) reduced on the root
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any root
/// Source   folklore
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.rank != problem.root) {
    plan.send(plan.input(), problem.root);
    return plan.build();
  }
  if (problem.size == 1) plan.copy(plan.input(), plan.output());
  Regions operands(static_cast<std::size_t>(problem.size), plan.input());
  for (int rank = 0; rank < problem.size; ++rank) {
    if (Rank{rank} == problem.root) continue;
    operands[static_cast<std::size_t>(rank)] = plan.scratch(problem.count);
    plan.recv(operands[static_cast<std::size_t>(rank)], Rank{rank});
  }
  append_reduction(plan, operands, plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count, others = (problem.size - 1) * n;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 1, .rounds = 1, .sent = n, .reduced = others, .scratch = others};
}

}  // namespace

extern const Algorithm reduce_one_shot;
constinit const Algorithm reduce_one_shot{
    .collective = Collective::reduce,
    .name = "one_shot",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "everything straight to the root: one round, for small counts and few ranks",
    .source = "folklore",
    .gathers = true,
};

}  // namespace tutti
