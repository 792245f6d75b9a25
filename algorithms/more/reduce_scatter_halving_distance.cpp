/// Reduce_scatter with doubling distances, the mirror image of the allgather with halving ones: neighbours exchange
/// the largest messages first; last the two halves of the ranks exchange one sum per block.
/// For powers of two it is recursive_halving; for other numbers of ranks no rank stands for two.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch up to about 4p/3 blocks, 3p/4 if p is a power of two
/// Cost     p = q 2^k, q odd: n(p-1) elements sent per rank, the least that are possible; if q < 8, k+q-1 messages, k
///          rounds, 1 more if q > 1, and as many elements reduced; else up to log2 p + 5 messages, and some ranks
///          reduce more, up to half as much again
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, blocks of any sizes
/// Source   the distances of Loch & Koslovski, arXiv 2109.08751, 2021, between halves instead of round a circle
#include "algorithms/halves_pattern.hpp"
#include "algorithms/phases_block_rounds.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  return reduce_scatter_in_rounds(problem, rounds_by_halves(problem.rank, problem.size));
}

Cost cost(const Problem& problem) {
  if (problem.size == 1) return {.copied = problem.count};
  if (problem.count == Count{0}) return {};
  return CostByHalves{problem.size, problem.count}.of_reduce_scatter();
}

}  // namespace

extern const Algorithm reduce_scatter_halving_distance;
constinit const Algorithm reduce_scatter_halving_distance{
    .collective = Collective::reduce_scatter,
    .name = "halving_distance",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "distances 1, 2, ..., p/2: the largest messages to the nearest ranks, one sum per block crosses halves",
    .source = "Loch & Koslovski, arXiv 2109.08751, 2021",
};

}  // namespace tutti
