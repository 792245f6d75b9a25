/// Linear gather: everybody sends to the root.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; no scratch
/// Cost     1 message and round; n elements sent per rank, n copied on the root
/// Needs    any p >= 1, any n >= 0
/// Source   folklore
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.rank != problem.root) {
    plan.send(plan.input(), problem.root);
    return plan.build();
  }
  const Blocks blocks = output_blocks(problem);
  plan.copy(plan.input(), blocks[problem.root.value()]);
  for (Rank peer; peer.value() < problem.size; peer = Rank{peer.value() + 1})
    if (peer != problem.root) plan.recv(blocks[peer.value()], peer);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 1, .rounds = 1, .sent = n, .copied = n};
}

}  // namespace

extern const Algorithm gather_linear;
constinit const Algorithm gather_linear{
    .collective = Collective::gather,
    .name = "linear",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "everybody sends to the root: one round, nothing stored on the way",
    .source = "folklore",
};

}  // namespace tutti
