/// Bine allgather: a butterfly whose peers are at distances ..., 11, -5, 3, -1, 1, which are shorter together than
/// powers of two, the largest messages to the nearest ranks. Its rounds are those of Swing's second half. Shapes in[n]
/// -> out[p blocks of n], elements; no scratch Cost     c = 2^floor(log2 p): log2 c messages and rounds and n(p-1)
/// elements sent per rank, if p = c the least that are
///          possible; else the odd rank of a pair sends up to 2(p-1) blocks, and there are 1 or 2 rounds more
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
  const BineFigures figures{problem.size};
  return {.messages = figures.messages(),
          .rounds = figures.longest_chain(),
          .sent = figures.most_kept(problem.size - 1) * n,
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
