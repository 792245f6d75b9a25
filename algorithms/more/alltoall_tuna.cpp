/// TuNA: Bruck's routes without his rotations. Blocks start from the input and end in the output; only those that have
/// to travel on lie in scratch in between.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch (blocks of two hops or more, and again
///          those of three or more) n
/// Cost     radix k: ceil(log_k p) rounds, up to (k-1) ceil(log_k p) messages, about (k-1)/k p log_k p blocks of n sent
///          per rank; n copied
/// Needs    any p >= 1, any n >= 0; sizes that are not equal travel first
/// Source   Fan et al., "Configurable non-uniform all-to-all algorithms", arXiv:2411.02581
#include "algorithms/phases_alltoall.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  return alltoall_by_digits(problem, {problem.rank, problem.size, problem.parameter});
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const DigitFigures figures{problem.size, problem.parameter};
  return {.messages = figures.messages(),
          .rounds = figures.rounds(),
          .sent = figures.hops() * n,
          .copied = n,
          .scratch = (figures.twice_or_more() + figures.thrice_or_more()) * n};
}

}  // namespace

extern const Algorithm alltoall_tuna;
constinit const Algorithm alltoall_tuna{
    .collective = Collective::alltoall,
    .name = "tuna",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 4, .least = 2},
    .build = build,
    .cost = cost,
    .exchange = exchange_hop_sizes,
    .summary = "Bruck's routes without copies: blocks end in place; for small blocks of differing sizes",
    .source = "Fan et al., arXiv:2411.02581",
};

}  // namespace tutti
