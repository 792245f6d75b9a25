/// Segmented scatter: blocks are cut into segments. The root sends everybody the first, then everybody the second, and
/// so on: all ranks receive at the same time, and none waits for others' whole blocks.
/// Shapes   in[p n] on the root -> out[n], elements, or blocks of listed sizes; no scratch
/// Cost     s (p-1) messages (s at most n), (p-1) n elements sent and n copied on the root; 1 round
/// Needs    any p >= 1, any n >= 0
/// Source   folklore; the counterpart of "linear with synchronization" of Open MPI, coll/base
#include <algorithm>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int segments = problem.parameter;
  if (problem.rank != problem.root) {
    const Blocks mine{plan.output(), segments};
    for (int segment = 0; segment < segments; ++segment)
      plan.recv(mine[segment], problem.root);
    return plan.build();
  }
  const Blocks blocks = input_blocks(problem);
  for (int segment = 0; segment < segments; ++segment)
    for (int peer = 0; peer < problem.size; ++peer)
      if (Rank{peer} != problem.root) plan.send(Blocks{blocks[peer], segments}[segment], Rank{peer});
  plan.copy(blocks[problem.root.value()], plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int others = problem.size - 1;
  if (others == 0) return {.copied = n};
  if (n == Count{0}) return {};
  const int segments = static_cast<int>(std::min(n, Count{problem.parameter}).value());
  return {.messages = segments * others, .rounds = 1, .sent = others * n, .copied = n};
}

}  // namespace

extern const Algorithm scatter_segmented;
constinit const Algorithm scatter_segmented{
    .collective = Collective::scatter,
    .name = "segmented",
    .order = Order::of_ranks,
    .parameter = {.name = "segments", .fallback = 2, .least = 2, .most = 4096},
    .build = build,
    .cost = cost,
    .summary = "the root sends everybody the first segment, then the second, ...: all receive at the same time",
    .source = "folklore; the counterpart of \"linear with synchronization\" of Open MPI, coll/base",
};

}  // namespace tutti
