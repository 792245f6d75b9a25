/// Recursive exchange reduce_scatter: in round i, the `radix` ranks at multiples of radix^i divide among themselves
/// the blocks that they hold, each with all others at once.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch less than 2p blocks; less than p if p = c below
/// Cost     k the radix; c = m k^a, the largest that is not above p, m < k: a rounds of k-1 messages, one of m-1 if m
///          > 1; p-1 blocks sent and reduced per rank if p = c, the least volumes that are possible; else the even
///          rank of a pair sends p blocks, which the odd one reduces besides, and there are 1 or 2 rounds more
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, blocks of any sizes
/// Source   "recexch" of MPICH; "sra_knomial" of UCC
#include "algorithms/exchange_rounds_pattern.hpp"
#include "algorithms/phases_block_rounds.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  return reduce_scatter_in_rounds(problem, exchange_rounds(problem.rank, problem.size, problem.parameter));
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const ExchangeFigures figures{p, problem.parameter};
  return {.messages = figures.messages(),
          .rounds = figures.longest_chain(),
          .sent = (figures.even() ? p - 1 : p) * n,
          .reduced = (figures.arriving() + (figures.even() ? 0 : p)) * n,
          .scratch = figures.scratch() * n};
}

}  // namespace

extern const Algorithm reduce_scatter_recursive_exchange;
constinit const Algorithm reduce_scatter_recursive_exchange{
    .collective = Collective::reduce_scatter,
    .name = "recursive_exchange",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 4, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "groups of `radix` ranks divide blocks, all messages at once: fewer rounds than halving, for many links",
    .source = "\"recexch\" of MPICH, \"sra_knomial\" of UCC",
};

}  // namespace tutti
