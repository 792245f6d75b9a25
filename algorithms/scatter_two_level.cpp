/// Two-level scatter: the root sends the leader of each node all blocks of the node in one message.
/// Shapes   in[p n] on the root -> out[n], elements, or blocks of listed sizes; scratch on leaders m-1 blocks
/// Cost     2 rounds; h nodes, m ranks on the root's: h + m - 2 messages of the root, (p-1) n elements sent, n copied
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes; sizes that are not equal go to leaders first
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "phases_nodes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// Sends each leader the blocks of its node, and each rank of the root's node its own.
void append_root(ScheduleBuilder& plan, const Nodes& nodes, Rank root, const Blocks& blocks) {
  for (int node = 0; node < nodes.count(); ++node) {
    Regions parcel;
    for (const Rank member : nodes.at(node).ranks) {
      if (node != nodes.own()) Blocks::append(parcel, blocks[member.value()]);
      if (node == nodes.own() && member != root) plan.send(blocks[member.value()], member);
    }
    if (node != nodes.own()) plan.send(parcel, nodes.leader(node));
  }
}

/// Where the leader of a node has the blocks of its members, its own in `own`.
Regions landing(ScheduleBuilder& plan, const Problem& problem, const Group& node) {
  Regions blocks;
  for (int place = 0; place < node.size(); ++place) {
    const Count count = problem.uneven() ? problem.learned[static_cast<std::size_t>(place)] : problem.count;
    blocks.push_back(place == node.me ? plan.output() : plan.scratch(count));
  }
  return blocks;
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  const Group& node = nodes.mine();
  if (problem.rank == problem.root) {
    const Blocks blocks = input_blocks(problem);
    append_root(plan, nodes, problem.root, blocks);
    plan.copy(blocks[problem.root.value()], plan.output());
  } else if (!nodes.leads()) {
    plan.recv(plan.output(), nodes.leader(nodes.own()));
  } else {
    const Regions blocks = landing(plan, problem, node);
    plan.recv(blocks, problem.root);
    for (int place = 0; place < node.size(); ++place)
      if (place != node.me) plan.send(blocks[static_cast<std::size_t>(place)], node.at(place));
  }
  return plan.build();
}

/// The same with sizes for blocks: leaders learn those of their nodes, the others their own.
Exchange exchange(const Problem& problem) {
  const Nodes nodes{problem};
  const Group& node = nodes.mine();
  const bool at_root = problem.rank == problem.root, serves = nodes.leads() && !at_root;
  const Count told{at_root ? problem.size : 0}, learned{at_root ? 0 : serves ? node.size() : 1};
  ScheduleBuilder plan{{problem.rank, problem.size}, told, learned};
  const Blocks sizes{plan.output(), std::max(1, static_cast<int>(learned.value()))};
  if (at_root) append_root(plan, nodes, problem.root, {plan.input(), problem.size});
  if (!at_root) plan.recv(plan.output(), serves ? problem.root : nodes.leader(nodes.own()));
  for (int place = 0; serves && place < node.size(); ++place)
    if (place != node.me) plan.send(sizes[place], node.at(place));
  return {plan.build(), told, learned};
}

Cost cost(const Problem& problem) {
  const Nodes nodes{problem};
  const Count n = problem.count;
  return {.messages = nodes.count() - 1 + nodes.lanes() - 1,
          .rounds = (nodes.lanes() > 1 ? 1 : 0) + (nodes.count() > 1 ? 1 : 0),
          .sent = (problem.size - 1) * n,
          .copied = n,
          .scratch = (nodes.lanes() - 1) * n};
}

}  // namespace

extern const Algorithm scatter_two_level;
constinit const Algorithm scatter_two_level{
    .collective = Collective::scatter,
    .name = "two_level",
    .order = Order::of_ranks,
    .levels = Levels::nodes,
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "one message to the leader of each node, which hands on the blocks",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
