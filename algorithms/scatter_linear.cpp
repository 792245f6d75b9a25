/// Linear scatter: the root sends to everybody.
/// Shapes   in[p n] on the root -> out[n], elements, or blocks of listed sizes; no scratch
/// Cost     p-1 messages of n elements and n copied on the root; 1 round
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
    plan.recv(plan.output(), problem.root);
    return plan.build();
  }
  const Blocks blocks = input_blocks(problem);
  for (Rank peer; peer.value() < problem.size; peer = Rank{peer.value() + 1})
    if (peer != problem.root) plan.send(blocks[peer.value()], peer);
  plan.copy(blocks[problem.root.value()], plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int others = problem.size - 1;
  if (others == 0) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = others, .rounds = 1, .sent = others * n, .copied = n};
}

}  // namespace

extern const Algorithm scatter_linear;
constinit const Algorithm scatter_linear{
    .collective = Collective::scatter,
    .name = "linear",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "the root sends to everybody: one round, nothing stored on the way",
    .source = "folklore",
};

}  // namespace tutti
