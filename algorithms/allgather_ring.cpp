/// Ring allgather: each block goes once round the ring.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     p-1 messages and rounds; n(p-1) elements sent per rank: the least that is possible
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include <vector>

#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_ring_allgather(ScheduleBuilder& plan, const std::vector<Lane>& lanes, const Region& own) {
  for (int round = 1; round < lanes[0].ring.size(); ++round) {
    for (const Lane& lane : lanes) {
      plan.send(lane.share(round == 1 ? own : lane.into[lane.ring.behind(round - 1)]), lane.ring.next());
      plan.recv(lane.share(lane.into[lane.ring.behind(round)]), lane.ring.previous());
    }
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Blocks out = output_blocks(problem);
  plan.copy(plan.input(), out[problem.rank.value()]);
  append_ring_allgather(plan, {{{problem.rank, problem.size}, out, out}}, plan.input());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (n == Count{0}) return {};
  return {.messages = p - 1, .rounds = p - 1, .sent = (p - 1) * n, .copied = n};
}

}  // namespace

extern const Algorithm allgather_ring;
constinit const Algorithm allgather_ring{
    .collective = Collective::allgather,
    .name = "ring",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "blocks go round the ring: least volume, p-1 rounds, neighbours only",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
