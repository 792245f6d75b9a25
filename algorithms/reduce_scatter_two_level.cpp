/// Two-level reduce_scatter: each node reduces to its leader, leaders reduce and scatter the blocks of their nodes on a
/// circulant graph, and hand each rank its own.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch on leaders up to 3 p blocks
/// Cost     h nodes, m ranks on the largest: ceil(log_8 m) + ceil(log2 h) + 1 rounds; every node sends one sum for each
///          block of the others, the least that is possible
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "circulant_pattern.hpp"
#include "phases_costs.hpp"
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// A block of the input, in sums of the whole input.
Region within(const Region& sums, const Region& block) {
  return {sums.buffer, sums.offset + block.offset, block.count};
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Blocks in = input_blocks(problem);
  const GroupTree inside{nodes.mine(), nodes.server(0, nodes.own())};
  const bool needs_room = combines(inside);
  const Region sums = plan.scratch(needs_room || nodes.leads() ? plan.input().count : Count{0});
  const Region theirs = plan.scratch(needs_room ? plan.input().count : Count{0});
  const Region done = append_group_reduce(plan, inside, plan.input(), sums, theirs);
  if (!nodes.leads()) {
    plan.recv(plan.output(), nodes.leader(nodes.own()));
    return plan.build();
  }
  plan.copy(done, sums);  // only a rank alone on its node has it elsewhere
  Parcels parcels(static_cast<std::size_t>(nodes.count()));
  for (int rank = 0; rank < problem.size; ++rank)
    Blocks::append(parcels[static_cast<std::size_t>(nodes.of(Rank{rank}))], within(sums, in[rank]));
  append_parcel_reduce_scatter(plan, nodes.leaders(), parcels);
  for (const Rank member : nodes.mine().ranks)
    if (member != problem.rank) plan.send(within(sums, in[member.value()]), member);
  plan.copy(within(sums, in[problem.rank.value()]), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const NodeFigures nodes{Nodes{problem}};
  const Count n = problem.count, all = problem.size * n;
  const Count crossing = (nodes.nodes - 1) * (nodes.lanes * n);
  const KnomialShape inside = group_shape(nodes.lanes, 0, node_radix);
  const Circulant across = Circulant::halving(Rank{0}, nodes.nodes);
  const int peers = nodes.lanes - 1;
  return {.messages = static_cast<int>(across.rounds().size()) + peers,
          .rounds = inside.depth + across.longest_chain() + (peers > 0 ? 1 : 0),
          .sent = std::max(peers > 0 ? all : Count{0}, crossing + peers * n),
          .reduced = std::max(inside.root_children * all + crossing, inside.inner_children * all),
          .copied = (nodes.smallest > 1 ? Count{0} : all) + n,
          .scratch = (peers > 0 ? 2 : 1) * all + across.partials() * (nodes.lanes * n)};
}

}  // namespace

extern const Algorithm reduce_scatter_two_level;
constinit const Algorithm reduce_scatter_two_level{
    .collective = Collective::reduce_scatter,
    .name = "two_level",
    .order = Order::any,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .summary = "inside nodes, a reduce-scatter among their leaders, back: few messages cross, for small blocks",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
