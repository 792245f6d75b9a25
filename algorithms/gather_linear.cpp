/// Linear gather, which is the linear scatter backwards: everybody sends to the root.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; no scratch
/// Cost     1 message and round; n elements sent per rank, n copied on the root
/// Needs    any p >= 1, any n >= 0
/// Source   folklore
#include "tutti/reversed.hpp"

namespace tutti {

extern const Algorithm scatter_linear;

namespace {

Schedule build(const Problem& problem) { return reversed(scatter_linear, problem); }

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
