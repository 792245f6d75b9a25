/// Ring allreduce: reduce-scatter around the ring, then allgather.
/// Shapes   in[n] -> out[n], elements; scratch ceil(n/p)
/// Cost     2(p-1) messages and rounds; 2n(p-1)/p elements sent and n(p-1)/p reduced per rank
/// Needs    commutative operation; any p >= 1, any n >= 0
/// Source   Patarasuk & Yuan, JPDC 69(2), 2009
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_ring_reduce_scatter(ScheduleBuilder& plan, const std::vector<Lane>& lanes) {
  const int size = lanes[0].ring.size();
  std::vector<Region> incoming;
  incoming.reserve(lanes.size());
  for (const Lane& lane : lanes)
    incoming.push_back(plan.scratch(size > 1 ? lane.share(lane.from[0].first(lane.from.largest())).count : Count{0}));
  for (int round = 1; round < size; ++round) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const Lane& lane = lanes[i];
      const int given = lane.ring.behind(round), block = lane.ring.behind(round + 1);
      const Region mine = lane.share(lane.from[block]), theirs = incoming[i].first(mine.count);
      plan.send(lane.share((round == 1 ? lane.from : lane.into)[given]), lane.ring.next());
      plan.recv(theirs, lane.ring.previous());
      plan.reduce(theirs, mine, lane.share(lane.into[block]));
    }
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const Blocks in{plan.input(), problem.size};
  const Blocks out{plan.output(), problem.size};
  if (ring.size() == 1) plan.copy(plan.input(), plan.output());
  append_ring_reduce_scatter(plan, {{ring, in, out}});
  append_ring_allgather(plan, {{ring, out, out}}, out[ring.behind(0)]);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, p}.largest(), most = (p - 1) * block;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 2 * (p - 1), .rounds = 2 * (p - 1), .sent = 2 * most, .reduced = most, .scratch = block};
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
