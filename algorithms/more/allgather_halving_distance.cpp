/// Allgather with halving distances: the two halves of the ranks exchange single blocks, then the halves of each half
/// what they have, and so on, so that each block crosses between halves once and the largest messages go to
/// neighbours.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     p = q 2^k, q odd: if q < 8, k+q-1 messages, k rounds, 1 more if q > 1, and n(p-1) elements sent per rank,
///          the least that are possible; else up to log2 p + 4 messages, and some ranks send more, up to half as much
///          again
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   the distances of Loch & Koslovski, arXiv 2109.08751, 2021, between halves instead of round a circle
#include "algorithms/halves_pattern.hpp"
#include "algorithms/phases_block_rounds.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  return allgather_in_rounds(problem, rounds_by_halves(problem.rank, problem.size));
}

Cost cost(const Problem& problem) {
  if (problem.count == Count{0}) return {};
  return CostByHalves{problem.size, problem.count}.of_allgather();
}

}  // namespace

extern const Algorithm allgather_halving_distance;
constinit const Algorithm allgather_halving_distance{
    .collective = Collective::allgather,
    .name = "halving_distance",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "distances p/2, p/4, ..., 1: the largest messages to the nearest ranks, each block crosses halves once",
    .source = "Loch & Koslovski, arXiv 2109.08751, 2021",
};

}  // namespace tutti
