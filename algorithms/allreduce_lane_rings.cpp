/// Full-lane allreduce by rings: as lanes, but the slices are reduced over the nodes round a ring.
/// Shapes   in[n] -> out[n], elements; scratch at most 2n
/// Cost     h nodes, m ranks on the largest: 2 ceil(log_8 m) + 2(h-1) rounds; a node sends 2n(h-1)/h elements to others
///          if h and m divide the count, the least that is possible, from all of its ranks, and all to one node: in
///          segments all links are busy all the time
/// Needs    commutative operation; any p >= 1, any n >= 0, any spread over nodes
/// Source   Patarasuk & Yuan, JPDC 69(2), 2009, on the lanes of Traeff & Hunold, IEEE CLUSTER 2020
#include <algorithm>

#include "phases.hpp"
#include "phases_lanes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

void append_across(ScheduleBuilder& plan, const Group& lane, const Region& slice) {
  plan.within(lane, [&](Rank me, int size) {
    const Ring ring{me, size};
    const Blocks blocks{slice, size};
    append_ring_reduce_scatter(plan, {{ring, blocks, blocks}});
    append_ring_allgather(plan, {{ring, blocks, blocks}}, blocks[ring.behind(0)]);
  });
}

Schedule build(const Problem& problem) { return allreduce_over_lanes(problem, append_across); }

Cost cost(const Problem& problem) {
  const int others = Nodes{problem}.count() - 1;
  return cost_over_lanes(problem, AcrossLanes::of_blocks(problem, 2 * others, 2 * others, std::min(others, 1)));
}

}  // namespace

extern const Algorithm allreduce_lane_rings;
constinit const Algorithm allreduce_lane_rings{
    .collective = Collective::allreduce,
    .name = "lane_rings",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "as lanes, but round rings of nodes: for large counts in segments, which keep all links busy",
    .source = "Patarasuk & Yuan, JPDC 69(2), 2009; Traeff & Hunold, IEEE CLUSTER 2020",
};

}  // namespace tutti
