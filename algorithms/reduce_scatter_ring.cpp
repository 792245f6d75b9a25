/// Ring reduce_scatter: each block goes once round the ring, growing, and ends at its owner.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch 2 blocks (1 if p = 2)
/// Cost     p-1 messages and rounds; n(p-1) elements sent and reduced per rank: both the least that are possible
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes
/// Source   Patarasuk & Yuan, JPDC 69(2), 2009
#include <algorithm>

#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const Blocks in = input_blocks(problem);
  if (ring.size() == 1) plan.copy(plan.input(), plan.output());
  const Count slot = ring.size() > 1 ? in.largest() : Count{0};
  const Region slots[] = {plan.scratch(slot), plan.scratch(ring.size() > 2 ? slot : Count{0})};
  const Region result = ring.size() > 1 ? landing(plan, problem) : plan.output();
  Region outgoing = in[ring.behind(1)];
  for (int round = 1; round < ring.size(); ++round) {
    const Region mine = in[ring.behind(round + 1)], theirs = slots[(round - 1) % 2].first(mine.count);
    plan.send(outgoing, ring.next());
    plan.recv(theirs, ring.previous());
    plan.reduce(theirs, mine, round == ring.size() - 1 ? result : theirs);
    outgoing = theirs;
  }
  if (ring.size() > 1) plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = p - 1,
          .rounds = p - 1,
          .sent = (p - 1) * n,
          .reduced = (p - 1) * n,
          .scratch = std::min(p - 1, 2) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_ring;
constinit const Algorithm reduce_scatter_ring{
    .collective = Collective::reduce_scatter,
    .name = "ring",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "blocks go round the ring and grow: least volume, p-1 rounds, neighbours only",
    .source = "Patarasuk & Yuan, JPDC 69(2), 2009",
};

}  // namespace tutti
