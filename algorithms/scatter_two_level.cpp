/// Two-level scatter: the root sends the leader of each node all blocks of the node in one message.
/// Shapes   in[p n] on the root -> out[n], elements, or blocks of listed sizes; scratch on leaders m-1 blocks
/// Cost     2 rounds; h nodes, m ranks on the root's: h + m - 2 messages of the root, (p-1) n elements sent, n copied
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes; sizes that are not equal go to leaders first, and
///          blocks of more than `largest` straight where they belong
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "carried_pattern.hpp"
#include "nodes_pattern.hpp"
#include "phases_sizes.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

/// Sends each leader the blocks of its node that are carried, and each rank of the root's node its own.
void append_root(ScheduleBuilder& plan, const Problem& problem, const Nodes& nodes) {
  const Blocks blocks = input_blocks(problem);
  const Carried is_carried{problem};
  for (int node = 0; node < nodes.count(); ++node) {
    Regions parcel;
    for (const Rank member : nodes.at(node).ranks)
      if (node != nodes.own() && is_carried(blocks[member.value()].count))
        Blocks::append(parcel, blocks[member.value()]);
    if (node != nodes.own()) plan.send(parcel, nodes.leader(node));
    for (const Rank member : nodes.at(node).ranks)
      if (member != problem.root && (node == nodes.own() || !is_carried(blocks[member.value()].count)))
        plan.send(blocks[member.value()], member);
  }
  plan.copy(blocks[problem.root.value()], plan.output());
}

/// Receives the blocks of the leader's node that are carried, its own in its output, and hands them out.
void append_leader(ScheduleBuilder& plan, const Problem& problem, const Group& node) {
  const Carried is_carried{problem};
  Regions blocks;
  for (int place = 0; place < node.size(); ++place) {
    const Count count = problem.uneven() ? problem.learned[static_cast<std::size_t>(place)] : problem.count;
    const Count carried = is_carried(count) ? count : Count{0};
    blocks.push_back(place != node.me ? plan.scratch(carried) : Region{Buffer::output, Count{0}, carried});
  }
  plan.recv(blocks, problem.root);
  for (int place = 0; place < node.size(); ++place)
    if (place != node.me) plan.send(blocks[static_cast<std::size_t>(place)], node.at(place));
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  if (problem.rank == problem.root) {
    append_root(plan, problem, nodes);
    return plan.build();
  }
  if (nodes.leads()) append_leader(plan, problem, nodes.mine());
  if (!Carried{problem}(plan.output().count))
    plan.recv(plan.output(), problem.root);
  else if (!nodes.leads())
    plan.recv(plan.output(), nodes.leader(nodes.own()));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Nodes nodes{problem};
  const Count n = problem.count;
  return {.messages = nodes.count() - 1 + nodes.lanes() - 1,
          .rounds = (nodes.lanes() > 1 ? 1 : 0) + (nodes.count() > 1 ? 1 : 0),
          .sent = (problem.size - 1) * n,
          .copied = n,
          .scratch = (nodes.count() > 1 ? nodes.lanes() - 1 : 0) * n};
}

}  // namespace

extern const Algorithm scatter_two_level;
constinit const Algorithm scatter_two_level{
    .collective = Collective::scatter,
    .name = "two_level",
    .order = Order::of_ranks,
    .levels = Levels::nodes,
    .parameter = Carried::parameter,
    .build = build,
    .cost = cost,
    .exchange = leaders_learn_sizes,
    .summary = "one message to the leader of each node, which hands on the blocks",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
