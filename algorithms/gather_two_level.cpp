/// Two-level gather: blocks go to the leader of their node, which sends all of them to the root in one message.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; scratch on leaders m-1 blocks
/// Cost     2 rounds; a leader of m ranks sends m n elements in one message; n copied on the root
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes; sizes that are not equal go to leaders first
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// What the leader of a node sends: the blocks of its members, its own still in the input.
Regions collected(ScheduleBuilder& plan, const Problem& problem, const Group& node) {
  Regions blocks;
  for (int place = 0; place < node.size(); ++place) {
    const Count count = problem.uneven() ? problem.learned[static_cast<std::size_t>(place)] : problem.count;
    blocks.push_back(place == node.me ? plan.input() : plan.scratch(count));
  }
  return blocks;
}

void append_root(ScheduleBuilder& plan, const Problem& problem, const Nodes& nodes) {
  const Blocks blocks = output_blocks(problem);
  plan.copy(plan.input(), blocks[problem.root.value()]);
  for (int node = 0; node < nodes.count(); ++node) {
    Regions parcel;
    for (const Rank member : nodes.at(node).ranks) {
      if (node != nodes.own()) Blocks::append(parcel, blocks[member.value()]);
      if (node == nodes.own() && member != problem.root) plan.recv(blocks[member.value()], member);
    }
    if (node != nodes.own()) plan.recv(parcel, nodes.leader(node));
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  if (problem.rank == problem.root) {
    append_root(plan, problem, nodes);
  } else if (!nodes.leads()) {
    plan.send(plan.input(), nodes.leader(nodes.own()));
  } else {
    const Group& node = nodes.mine();
    const Regions blocks = collected(plan, problem, node);
    for (int place = 0; place < node.size(); ++place)
      if (place != node.me) plan.recv(blocks[static_cast<std::size_t>(place)], node.at(place));
    plan.send(blocks, problem.root);
  }
  return plan.build();
}

/// Leaders, but the root, which knows them, learn the sizes of their nodes' blocks.
Exchange exchange(const Problem& problem) {
  const Nodes nodes{problem};
  const Group& node = nodes.mine();
  const bool asks = nodes.own() != nodes.of(problem.root), learns = asks && nodes.leads();
  const Count own{1}, all{learns ? node.size() : 0};
  ScheduleBuilder plan{{problem.rank, problem.size}, own, all};
  if (asks && !learns) plan.send(plan.input(), nodes.leader(nodes.own()));
  const Blocks sizes{plan.output(), node.size()};
  for (int place = 0; learns && place < node.size(); ++place) {
    if (place == node.me)
      plan.copy(plan.input(), sizes[place]);
    else
      plan.recv(sizes[place], node.at(place));
  }
  return {plan.build(), own, all};
}

Cost cost(const Problem& problem) {
  const Nodes nodes{problem};
  const Count n = problem.count;
  return {.messages = 1,
          .rounds = (nodes.lanes() > 1 ? 1 : 0) + (nodes.count() > 1 ? 1 : 0),
          .sent = nodes.lanes() * n,
          .copied = n,
          .scratch = (nodes.lanes() - 1) * n};
}

}  // namespace

extern const Algorithm gather_two_level;
constinit const Algorithm gather_two_level{
    .collective = Collective::gather,
    .name = "two_level",
    .order = Order::of_ranks,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "to the leader of each node, which sends the root one message",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
