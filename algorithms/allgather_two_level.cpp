/// Two-level allgather: blocks go to the leader of their node, leaders exchange those of their nodes on a circulant
/// graph, and hand everything to their nodes.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     h nodes: 2 + ceil(log2 h) rounds; every node receives each block of the others once, the least that is
///          possible
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "circulant_pattern.hpp"
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks out = output_blocks(problem);
  const Rank leader = nodes.leader(nodes.own());
  const Regions all = out.list(0, problem.size);
  if (!nodes.leads()) {
    plan.send(plan.input(), leader);
    plan.recv(all, leader);
    return plan.build();
  }
  plan.copy(plan.input(), out[problem.rank.value()]);
  for (const Rank member : nodes.mine().ranks)
    if (member != leader) plan.recv(out[member.value()], member);
  Parcels parcels(static_cast<std::size_t>(nodes.count()));
  for (int rank = 0; rank < problem.size; ++rank)
    Blocks::append(parcels[static_cast<std::size_t>(nodes.of(Rank{rank}))], out[rank]);
  append_parcel_allgather(plan, nodes.leaders(), parcels);
  for (const Rank member : nodes.mine().ranks)
    if (member != leader) plan.send(all, member);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const NodeFigures nodes{Nodes{problem}};
  const Count n = problem.count;
  const Circulant across = Circulant::halving(Rank{0}, nodes.nodes);
  const int peers = nodes.lanes - 1;
  return {.messages = static_cast<int>(across.rounds().size()) + peers,
          .rounds = across.longest_chain() + (peers > 0 ? 2 : 0),
          .sent = ((nodes.nodes - 1) * nodes.lanes + peers * problem.size) * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_two_level;
constinit const Algorithm allgather_two_level{
    .collective = Collective::allgather,
    .name = "two_level",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "to the leader of each node, an exchange among leaders, and back: few messages, for small blocks",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
