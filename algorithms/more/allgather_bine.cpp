/// Bine allgather: a butterfly whose peers are at distances ..., 11, -5, 3, -1, 1, which are shorter together than
/// powers of two, the largest messages to the nearest ranks. Its rounds are those of Swing's second half. If p is
/// three, five or seven times a power of two, ranks as far apart as that exchange blocks before.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     p = q 2^k, q odd < 8, k > 0: k+q-1 messages, k rounds, 1 more if q > 1, and n(p-1) elements sent per rank,
///          the least that are possible; else ranks are folded onto a power of two, the odd one of a pair sends up to
///          2(p-1) blocks, and there are 1 or 2 rounds more
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include "algorithms/bine_pattern.hpp"
#include "algorithms/phases_block_rounds.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) { return allgather_in_rounds(problem, bine_rounds(problem.rank, problem.size)); }

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const int p = problem.size;
  if (const BineUnits units{p}; units.are_few())
    return {.messages = units.messages(), .rounds = units.longest_chain(), .sent = (p - 1) * n, .copied = n};
  const BineFigures figures{p};
  return {.messages = figures.messages(),
          .rounds = figures.longest_chain(),
          .sent = figures.most_kept(p - 1) * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_bine;
constinit const Algorithm allgather_bine{
    .collective = Collective::allgather,
    .name = "bine",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "a butterfly of distances ..., -5, 3, -1, 1: fewest rounds if p is a power of two, most data stays near",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
