/// PAT reduce_scatter, the mirror image of its allgather: each block has a binomial tree of its own, along which it is
/// reduced, the nearest distances first; blocks of several trees share messages, of `blocks` blocks at most.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch about 3p/4 blocks; less than 2a log2(2p/a) if
///          `blocks` rounded down to a power of two is a < p/2
/// Cost     n(p-1) elements sent and reduced per rank, the least that are possible; ceil(log2 p) rounds, or one fewer;
///          ceil(log2 p) messages, or about p/a + log2 a
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes
/// Source   Jeaugey, arXiv 2506.20252, 2025
#include <vector>

#include "algorithms/pat_pattern.hpp"
#include "algorithms/phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Ring ring{problem.rank, problem.size};
  const ParallelTrees trees{problem.size, problem.parameter};
  const Blocks in = input_blocks(problem);
  const Count block = in.largest();
  PartialSums sums{trees, plan.scratch(trees.sums() * block), plan.scratch(trees.spares() * block), block};
  const Region result = landing(plan, problem);
  for (auto message = trees.messages().rbegin(); message != trees.messages().rend(); ++message) {
    const std::vector<int> offsets = trees.offsets(*message);
    Regions given, theirs;
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const int offset = offsets[k], onto = offset - message->distance;
      const Region mine = in[ring.behind(offset)];
      Blocks::append(given, sums.has(offset) ? sums.at(offset, mine.count) : mine);
      Blocks::append(theirs, sums.incoming(onto, k, in[ring.behind(onto)].count));
    }
    const bool last = message == trees.messages().rend() - 1;
    plan.send(given, Rank{ring.behind(message->distance)});
    plan.recv(theirs, Rank{ring.behind(-message->distance)});
    for (std::size_t k = 0; k < offsets.size(); ++k) {
      const int onto = offsets[k] - message->distance;
      const Region own = in[ring.behind(onto)], sum = sums.at(onto, own.count);
      plan.reduce(sums.incoming(onto, k, own.count), sums.has(onto) ? sum : own, last ? result : sum);
      sums.add(onto);
    }
  }
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const ParallelTrees trees{p, problem.parameter};
  return {.messages = static_cast<int>(trees.messages().size()),
          .rounds = trees.longest_chain_of_sums(),
          .sent = (p - 1) * n,
          .reduced = (p - 1) * n,
          .scratch = (trees.sums() + trees.spares()) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_pat;
constinit const Algorithm reduce_scatter_pat{
    .collective = Collective::reduce_scatter,
    .name = "pat",
    .order = Order::any,
    .parameter = {.name = "blocks", .fallback = 0, .least = 0},
    .build = build,
    .cost = cost,
    .summary = "a tree per block, the nearest distances first, with bounded messages and scratch: most data stays near",
    .source = "Jeaugey, arXiv 2506.20252, 2025",
};

}  // namespace tutti
