/// Segmented gather: contributions are cut into segments. The root asks one rank after the other; a rank that is asked
/// sends all its segments, and the next is asked once the first has arrived. So messages that arrive unexpectedly never
/// pile up on the root, which yet has several senders at work.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; no scratch
/// Cost     s messages (at most n) of n elements together per rank, p-1 signals of the root; 2(p-1) rounds
/// Needs    any p >= 1, any n >= 0
/// Source   "linear with synchronization" of Open MPI, coll/base
#include <algorithm>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

/// Only the root lists the counts of others, so a rank without elements must be told apart by its own count alone.
void append_asking(ScheduleBuilder& plan, const Region& block, int segments, Rank peer) {
  if (block.count == Count{0}) return;
  plan.signal(peer);  // leaves after all earlier steps: among them the first segment of the rank before
  plan.recv(Blocks{block, segments}[0], peer);
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int segments = problem.parameter;
  if (problem.rank != problem.root) {
    const Blocks mine{plan.input(), segments};
    if (plan.input().count > Count{0}) plan.await(problem.root);
    for (int segment = 0; segment < segments; ++segment)
      plan.send(mine[segment], problem.root);
    return plan.build();
  }
  const Blocks blocks = output_blocks(problem);
  for (int peer = 0; peer < problem.size; ++peer)
    if (Rank{peer} != problem.root) append_asking(plan, blocks[peer], segments, Rank{peer});
  for (int peer = 0; peer < problem.size; ++peer) {
    const Blocks theirs{blocks[peer], segments};
    for (int segment = 1; segment < segments && Rank{peer} != problem.root; ++segment)
      plan.recv(theirs[segment], Rank{peer});
  }
  plan.copy(plan.input(), blocks[problem.root.value()]);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int others = problem.size - 1;
  if (others == 0) return {.copied = n};
  if (n == Count{0}) return {};
  const int segments = static_cast<int>(std::min(n, Count{problem.parameter}).value());
  return {.messages = std::max(segments, others), .rounds = 2 * others, .sent = n, .copied = n};
}

}  // namespace

extern const Algorithm gather_segmented;
constinit const Algorithm gather_segmented{
    .collective = Collective::gather,
    .name = "segmented",
    .order = Order::of_ranks,
    .parameter = {.name = "segments", .fallback = 2, .least = 2, .most = 4096},
    .build = build,
    .cost = cost,
    .summary = "the root asks one rank after the other for segments: large contributions of many ranks do not flood it",
    .source = "\"linear with synchronization\" of Open MPI, coll/base",
};

}  // namespace tutti
