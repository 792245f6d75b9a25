/// Two-shot allreduce: every block goes straight to its owner, which reduces it and sends it to all others.
/// Shapes   in[n] -> out[n], elements; scratch about n
/// Cost     2 rounds of p-1 messages; where p divides n, 2n(p-1)/p elements sent and n(p-1)/p reduced per rank, the
///          least volumes that are possible
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   folklore
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Ring ring{problem.rank, problem.size};
  const Blocks out{plan.output(), problem.size};
  const Region own = out[problem.rank.value()];
  append_one_shot_reduce_scatter(plan, ring, {plan.input(), problem.size}, own);
  append_one_shot_allgather(plan, ring, own, out);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, others = (p - 1) * Blocks{{Buffer::output, Count{0}, n}, p}.largest();
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 2 * (p - 1), .rounds = 2, .sent = 2 * others, .reduced = others, .scratch = others};
}

}  // namespace

extern const Algorithm allreduce_two_shot;
constinit const Algorithm allreduce_two_shot{
    .collective = Collective::allreduce,
    .name = "two_shot",
    .order = Order::of_ranks,
    .segments = Segments::of_elements,
    .build = build,
    .cost = cost,
    .summary = "every block straight to its owner and back to all: two rounds, least volume, 2(p-1) messages",
    .source = "folklore",
    .gathers = true,
};

}  // namespace tutti
