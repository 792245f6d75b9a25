/// Exchanged reduce: operands travel to the owners of their blocks as in Bruck's alltoall, each owner combines its
/// block and sends the result to the root. Shapes   in[n] -> out[n] on the root, elements; scratch about n, and what
/// travels on Cost     radix k: up to (k-1) ceil(log_k p) + 1 messages, ceil(log_k p) + 1 rounds; where p divides n,
///          (k-1)/k n log_k p + n/p elements sent, n(p-1)/p reduced per rank. k >= p: the least volume
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any root
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997
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
  const bool at_root = problem.rank == problem.root;
  const Blocks in{plan.input(), problem.size};
  const int me = problem.rank.value();
  const Region own = at_root ? Blocks{plan.output(), problem.size}[me] : plan.scratch(in[me].count);
  append_exchanged_reduce_scatter(plan, problem.rank, {problem.rank, problem.size, problem.parameter}, in, own);
  if (!at_root) plan.send(own, problem.root);
  for (int rank = 0; at_root && rank < problem.size; ++rank)
    if (rank != me) plan.recv(Blocks{plan.output(), problem.size}[rank], Rank{rank});
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  if (p == 1) return {.copied = problem.count};
  if (problem.count == Count{0}) return {};
  const Count block = Blocks{{Buffer::input, Count{0}, problem.count}, p}.largest();
  Cost cost = exchanged_reduce_scatter_cost(p, problem.parameter, block);
  cost.messages += 1;
  cost.rounds += 1;
  cost.sent += block;
  cost.scratch += block;
  return cost;
}

}  // namespace

extern const Algorithm reduce_exchange;
constinit const Algorithm reduce_exchange{
    .collective = Collective::reduce,
    .name = "exchange",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .segments = Segments::of_elements,
    .build = build,
    .cost = cost,
    .summary = "operands travel to the owner of their block, in few rounds, and results to the root",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
    .gathers = true,
};

}  // namespace tutti
