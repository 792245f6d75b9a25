/// PAT allgather: each block has a binomial tree of its own, the farthest distances first, so that few blocks go far;
/// blocks of several trees share messages, of `blocks` blocks at most (0: as many as there are).
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     n(p-1) elements sent per rank, the least that is possible; ceil(log2 p) rounds, or one fewer; ceil(log2 p)
///          messages, or about p/a + log2 a if `blocks` rounded down to a power of two is a < p/2
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   Jeaugey, arXiv 2506.20252, 2025
#include <vector>

#include "algorithms/pat_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const ParallelTrees trees{problem.size, problem.parameter};
  const Blocks out = output_blocks(problem);
  plan.copy(plan.input(), out[problem.rank.value()]);
  for (const auto& message : trees.messages()) {
    Regions given, taken;
    for (const int offset : trees.offsets(message)) {
      Blocks::append(given, out[ring.behind(offset - message.distance)]);
      Blocks::append(taken, out[ring.behind(offset)]);
    }
    const bool own_alone = trees.offsets(message) == std::vector{message.distance};
    plan.send(own_alone ? Regions{plan.input()} : given, Rank{ring.behind(-message.distance)});
    plan.recv(taken, Rank{ring.behind(message.distance)});
  }
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const ParallelTrees trees{p, problem.parameter};
  return {.messages = static_cast<int>(trees.messages().size()),
          .rounds = trees.longest_chain(),
          .sent = (p - 1) * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_pat;
constinit const Algorithm allgather_pat{
    .collective = Collective::allgather,
    .name = "pat",
    .order = Order::any,
    .parameter = {.name = "blocks", .fallback = 0, .least = 0},
    .build = build,
    .cost = cost,
    .summary = "a tree per block, the farthest distances first, with bounded messages: most data stays near",
    .source = "Jeaugey, arXiv 2506.20252, 2025",
};

}  // namespace tutti
