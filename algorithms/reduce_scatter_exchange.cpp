/// Exchanged reduce_scatter: operands travel to the owners of their blocks as in Bruck's alltoall, and each owner
/// combines its block.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch p-1 blocks, and those that travel on
/// Cost     radix k: ceil(log_k p) rounds, up to (k-1) ceil(log_k p) messages, about (k-1)/k p log_k p blocks of n sent
///          and n(p-1) elements reduced per rank. k >= p: the least volume
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, blocks of any sizes
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
  const Region result = landing(plan, problem);
  append_exchanged_reduce_scatter(plan, problem.rank, {problem.rank, problem.size, problem.parameter},
                                  input_blocks(problem), result);
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  if (p == 1) return {.copied = problem.count};
  if (problem.count == Count{0}) return {};
  return exchanged_reduce_scatter_cost(p, problem.parameter, problem.count);
}

}  // namespace

extern const Algorithm reduce_scatter_exchange;
constinit const Algorithm reduce_scatter_exchange{
    .collective = Collective::reduce_scatter,
    .name = "exchange",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "operands travel to the owner of their block, in few rounds, which alone combines them",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
    .gathers = true,
};

}  // namespace tutti
