/// Bidirectional ring allreduce: half of each block goes round the ring one way, half the other way.
/// Shapes   in[n] -> out[n], elements; scratch ceil(n/p)
/// Cost     2(p-1) rounds of two messages; 2n(p-1)/p elements sent and n(p-1)/p reduced per rank
/// Needs    commutative operation; any p >= 1, any n >= 0
/// Source   folklore
#include <vector>

#include "algorithms/phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const Blocks in{plan.input(), problem.size}, out{plan.output(), problem.size};
  if (ring.size() == 1) plan.copy(plan.input(), plan.output());
  const std::vector<Lane> lanes{{ring, in, out, 0, 2}, {ring.reversed(), in, out, 1, 2}};
  append_ring_reduce_scatter(plan, lanes);
  append_ring_allgather(plan, lanes, out[problem.rank.value()]);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, p}.largest(), most = (p - 1) * block;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const int ways = block > Count{1} ? 2 : 1;
  return {.messages = ways * 2 * (p - 1), .rounds = 2 * (p - 1), .sent = 2 * most, .reduced = most, .scratch = block};
}

}  // namespace

extern const Algorithm allreduce_bidirectional_ring;
constinit const Algorithm allreduce_bidirectional_ring{
    .collective = Collective::allreduce,
    .name = "bidirectional_ring",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "half of each block goes round each way: both directions of every link at work",
    .source = "folklore",
};

}  // namespace tutti
