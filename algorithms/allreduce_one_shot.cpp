/// One-shot allreduce: everybody sends everything to all others; each combines it in the order of ranks.
/// Shapes   in[n] -> out[n], elements; scratch n(p-1)
/// Cost     1 round of p-1 messages; n(p-1) elements sent and reduced per rank
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   folklore
#include <vector>

#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  if (ring.size() == 1) plan.copy(plan.input(), plan.output());
  std::vector<Region> operands(static_cast<std::size_t>(ring.size()), plan.input());
  for (int round = 1; round < ring.size(); ++round) {
    const Rank peer{ring.behind(round)};
    Region& operand = operands[static_cast<std::size_t>(peer.value())];
    operand = plan.scratch(problem.count);
    plan.send(plan.input(), Rank{ring.behind(-round)});
    plan.recv(operand, peer);
  }
  append_reduction(plan, operands, plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, others = (p - 1) * n;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = p - 1, .rounds = 1, .sent = others, .reduced = others, .scratch = others};
}

}  // namespace

extern const Algorithm allreduce_one_shot;
constinit const Algorithm allreduce_one_shot{
    .collective = Collective::allreduce,
    .name = "one_shot",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "everything to all others at once: one round, for the smallest counts and few ranks",
    .source = "folklore",
    .gathers = true,
};

}  // namespace tutti
