/// Circulant broadcast: blocks follow each other on a circulant graph, on which everybody sends and receives in each
/// round; no other number of rounds is less if a rank sends one block at a time.
/// Shapes   in[n] -> out[n], elements, in b blocks; no scratch
/// Cost     b - 1 + ceil(log2 p) rounds in which a rank sends and receives at most a block of n/b; a block goes over at
///          most ceil(log2 p) + 1 ranks
/// Needs    any p >= 1, any n >= 0, any root, any b >= 1
/// Source   Traeff, arXiv 2407.18004, 2024
#include "algorithms/circulant_broadcast_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const bool at_root = problem.rank == problem.root;
  const Blocks from{at_root ? plan.input() : plan.output(), problem.parameter};
  const Blocks into{plan.output(), problem.parameter};
  for (const auto& [sent, received] :
       circulant_broadcast(problem.rank, problem.size, problem.root, problem.parameter)) {
    if (sent) plan.send(from[sent->block], sent->peer);
    if (received) plan.recv(into[received->block], received->peer);
  }
  if (at_root) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, problem.parameter}.largest();
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const int messages = problem.parameter - 1 + BroadcastCirculant{problem.size}.rounds();
  return {.messages = messages,
          .rounds = circulant_broadcast_depth(problem.size, problem.parameter),
          .sent = messages * block,
          .copied = n};
}

}  // namespace

extern const Algorithm broadcast_circulant;
constinit const Algorithm broadcast_circulant{
    .collective = Collective::broadcast,
    .name = "circulant",
    .order = Order::any,
    .parameter = {.name = "blocks", .fallback = 8, .least = 1, .most = 4096},
    .build = build,
    .cost = cost,
    .summary = "blocks on a circulant graph: as few rounds as there can be, for any number of ranks and blocks",
    .source = "Traeff, arXiv 2407.18004, 2024",
};

}  // namespace tutti
