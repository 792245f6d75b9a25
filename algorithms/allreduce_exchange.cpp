/// Exchanged allreduce: operands travel to the owners of their blocks as in Bruck's alltoall, each owner combines its
/// block, and an allgather tells all.
/// Shapes   in[n] -> out[n], elements; scratch about n, and what travels on
/// Cost     radix k: up to (k-1) ceil(log_k p) messages and ceil(log_k p) rounds, then log2 p of the allgather; where p
///          divides n, (k-1)/k n log_k p + n(p-1)/p elements sent, n(p-1)/p reduced per rank. k >= p: the least volume
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997; Traeff, arXiv 2410.14234, 2024
#include "phases.hpp"
#include "phases_alltoall.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Circulant circle = Circulant::halving(problem.rank, problem.size);
  const Blocks out{plan.output(), problem.size};
  const Region own = out[problem.rank.value()];
  append_exchanged_reduce_scatter(plan, problem.rank, {problem.rank, problem.size, problem.parameter},
                                  {plan.input(), problem.size}, own);
  append_circulant_allgather(plan, circle, own, circle.arcs(out));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  if (p == 1) return {.copied = problem.count};
  if (problem.count == Count{0}) return {};
  const Circulant circle = Circulant::halving(problem.rank, p);
  const Count block = Blocks{{Buffer::output, Count{0}, problem.count}, p}.largest();
  Cost cost = exchanged_reduce_scatter_cost(p, problem.parameter, block);
  cost.messages += static_cast<int>(circle.rounds().size());
  cost.rounds += circle.longest_chain();
  cost.sent += (p - 1) * block;
  return cost;
}

}  // namespace

extern const Algorithm allreduce_exchange;
constinit const Algorithm allreduce_exchange{
    .collective = Collective::allreduce,
    .name = "exchange",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .segments = Segments::of_elements,
    .build = build,
    .cost = cost,
    .summary = "operands travel to the owner of their block, in few rounds, and only results come back",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997; Traeff, arXiv 2410.14234, 2024",
    .gathers = true,
};

}  // namespace tutti
