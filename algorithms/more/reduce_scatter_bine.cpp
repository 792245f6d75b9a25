/// Bine reduce_scatter: a butterfly whose peers are at distances 1, -1, 3, -5, 11, ..., which are shorter together
/// than powers of two, the largest messages to the nearest ranks. Its rounds are those of Swing's first half. If p is
/// three, five or seven times a power of two, ranks as far apart as that exchange sums afterwards.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch about 3p/4 blocks; less than 2p if ranks are folded
/// Cost     p = q 2^k, q odd < 8, k > 0: k+q-1 messages, k rounds, 1 more if q > 1, and p-1 blocks sent and reduced per
///          rank, the least that are possible; else ranks are folded onto a power of two, the even one of a pair sends
///          p blocks, which the odd one reduces besides, and there are 1 or 2 rounds more
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include "algorithms/bine_pattern.hpp"
#include "algorithms/phases_block_rounds.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  return reduce_scatter_in_rounds(problem, bine_rounds(problem.rank, problem.size));
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  if (const BineUnits units{p}; units.are_few())
    return {.messages = units.messages(),
            .rounds = units.longest_chain(),
            .sent = (p - 1) * n,
            .reduced = (p - 1) * n,
            .scratch = units.scratch() * n};
  const BineFigures figures{p};
  return {.messages = figures.messages(),
          .rounds = figures.longest_chain(),
          .sent = p * n,
          .reduced = figures.most_kept(p) * n,
          .scratch = figures.scratch(p) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_bine;
constinit const Algorithm reduce_scatter_bine{
    .collective = Collective::reduce_scatter,
    .name = "bine",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "a butterfly of distances 1, -1, 3, -5, ...: fewest rounds if p is a power of two, most data stays near",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
