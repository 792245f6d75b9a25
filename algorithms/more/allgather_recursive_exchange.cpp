/// Recursive exchange allgather, the mirror image of its reduce_scatter: groups of `radix` ranks, the farthest first,
/// exchange all that they hold, each with all others at once.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     k the radix; c = m k^a, the largest that is not above p, m < k: a rounds of k-1 messages, one of m-1 if m
///          > 1; n(p-1) elements sent per rank if p = c, the least that are possible; else the odd rank of a pair
///          sends up to 2(p-1) blocks, and there are 1 or 2 rounds more
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   "recexch" of MPICH; "sra_knomial" of UCC
#include "algorithms/exchange_rounds_pattern.hpp"
#include "algorithms/phases_block_rounds.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  return allgather_in_rounds(problem, exchange_rounds(problem.rank, problem.size, problem.parameter));
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const ExchangeFigures figures{problem.size, problem.parameter};
  return {.messages = figures.messages(),
          .rounds = figures.longest_chain(),
          .sent = (figures.arriving() + (figures.even() ? 0 : problem.size - 1)) * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_recursive_exchange;
constinit const Algorithm allgather_recursive_exchange{
    .collective = Collective::allgather,
    .name = "recursive_exchange",
    .order = Order::any,
    .parameter = {.name = "radix", .fallback = 4, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "groups of `radix` ranks exchange all they have, all messages at once: fewer rounds, for many links",
    .source = "\"recexch\" of MPICH, \"sra_knomial\" of UCC",
};

}  // namespace tutti
