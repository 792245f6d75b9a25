/// Full-lane allreduce: each node reduces a slice of the data per lane to the rank that serves it; the slices are
/// reduced over the nodes on circulant graphs, all lanes at once, and then handed to all ranks of each node.
/// Shapes   in[n] -> out[n], elements; scratch at most 2n
/// Cost     h nodes, m ranks on the largest: 2 ceil(log_8 m) + 2 ceil(log2 h) rounds; a node sends 2n(h-1)/h elements
///          to others if h and m divide the count, the least that is possible, from all of its ranks
/// Needs    commutative operation; any p >= 1, any n >= 0, any spread over nodes
/// Source   Traeff & Hunold, IEEE CLUSTER 2020 (full-lane collectives); Bayatpour et al., SC 2017 (DPML)
#include "phases.hpp"
#include "phases_lanes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

void append_across(ScheduleBuilder& plan, const Group& lane, const Region& slice) {
  plan.within(lane, [&](Rank me, int size) {
    const Circulant circle = Circulant::halving(me, size);
    const Blocks blocks{slice, size};
    const Arcs arcs = circle.arcs(blocks);
    append_circulant_reduce_scatter(plan, circle, arcs, arcs, blocks[me.value()], false);
    append_circulant_allgather(plan, circle, blocks[me.value()], arcs);
  });
}

Schedule build(const Problem& problem) { return allreduce_over_lanes(problem, append_across); }

Cost cost(const Problem& problem) {
  const Circulant across = Circulant::halving(Rank{0}, Nodes{problem}.count());
  const int messages = 2 * static_cast<int>(across.rounds().size());
  return cost_over_lanes(problem,
                         AcrossLanes::of_blocks(problem, messages, 2 * across.longest_chain(), across.partials()));
}

}  // namespace

extern const Algorithm allreduce_lanes;
constinit const Algorithm allreduce_lanes{
    .collective = Collective::allreduce,
    .name = "lanes",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "every rank of a node leads its slice: the least volume between nodes, over all links",
    .source = "Traeff & Hunold, IEEE CLUSTER 2020; Bayatpour et al., SC 2017",
};

}  // namespace tutti
