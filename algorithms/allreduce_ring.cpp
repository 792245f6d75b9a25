/// Ring allreduce: reduce-scatter around the ring, then allgather.
/// Shapes   in[n] -> out[n], elements; scratch ceil(n/p)
/// Cost     2(p-1) messages and rounds; 2n(p-1)/p elements sent and n(p-1)/p reduced per rank
/// Needs    commutative operation; any p >= 1, any n >= 0
/// Source   Patarasuk & Yuan, JPDC 69(2), 2009
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_ring_reduce_scatter(ScheduleBuilder& plan, const Ring& ring, const Blocks& from, const Blocks& into) {
  const Region incoming = plan.scratch(ring.size() > 1 ? from.largest() : Count{0});
  Region outgoing = from[ring.behind(0)];
  for (int round = 1; round < ring.size(); ++round) {
    const int block = ring.behind(round);
    const Region theirs{incoming.buffer, incoming.offset, from[block].count};
    plan.send(outgoing, ring.next());
    plan.recv(theirs, ring.previous());
    plan.reduce(theirs, from[block], into[block]);
    outgoing = into[block];
  }
}

void append_ring_allgather(ScheduleBuilder& plan, const Ring& ring, const Blocks& blocks) {
  for (int round = 0; round < ring.size() - 1; ++round) {
    plan.send(blocks[ring.behind(round - 1)], ring.next());
    plan.recv(blocks[ring.behind(round)], ring.previous());
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const Blocks in{plan.input(), problem.size};
  const Blocks out{plan.output(), problem.size};
  if (ring.size() == 1) plan.copy(plan.input(), plan.output());
  append_ring_reduce_scatter(plan, ring, in, out);
  append_ring_allgather(plan, ring, out);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, p}.largest();
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 2 * (p - 1),
          .rounds = 2 * (p - 1),
          .sent = 2 * (p - 1) * block,
          .reduced = (p - 1) * block,
          .scratch = block};
}

}  // namespace

extern const Algorithm allreduce_ring;
constinit const Algorithm allreduce_ring{
    .collective = Collective::allreduce,
    .name = "ring",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "reduce-scatter around the ring, then allgather: least volume, 2(p-1) rounds",
    .source = "Patarasuk & Yuan, JPDC 69(2), 2009",
};

}  // namespace tutti
