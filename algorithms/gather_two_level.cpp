/// Two-level gather: blocks go to the leader of their node, which sends all of them to the root in one message.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; scratch on leaders m-1 blocks
/// Cost     2 rounds; a leader of m ranks sends m n elements in one message; n copied on the root
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes; sizes that are not equal go to leaders first, and
///          blocks of more than `largest` straight to the root
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "carried_pattern.hpp"
#include "nodes_pattern.hpp"
#include "phases_sizes.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

/// Collects the blocks of the leader's node, its own still in the input, and sends the root those that are carried in
/// one message.
void append_leader(ScheduleBuilder& plan, const Problem& problem, const Group& node) {
  const Carried is_carried{problem};
  Regions blocks;
  for (int place = 0; place < node.size(); ++place) {
    const Count count = problem.uneven() ? problem.learned[static_cast<std::size_t>(place)] : problem.count;
    const Count carried = is_carried(count) ? count : Count{0};
    blocks.push_back(place != node.me ? plan.scratch(carried) : Region{Buffer::input, Count{0}, carried});
    if (place != node.me) plan.recv(blocks.back(), node.at(place));
  }
  plan.send(blocks, problem.root);
}

void append_root(ScheduleBuilder& plan, const Problem& problem, const Nodes& nodes) {
  const Blocks blocks = output_blocks(problem);
  const Carried is_carried{problem};
  plan.copy(plan.input(), blocks[problem.root.value()]);
  for (int node = 0; node < nodes.count(); ++node) {
    Regions parcel;
    for (const Rank member : nodes.at(node).ranks)
      if (node != nodes.own() && is_carried(blocks[member.value()].count))
        Blocks::append(parcel, blocks[member.value()]);
    if (node != nodes.own()) plan.recv(parcel, nodes.leader(node));
    for (const Rank member : nodes.at(node).ranks)
      if (member != problem.root && (node == nodes.own() || !is_carried(blocks[member.value()].count)))
        plan.recv(blocks[member.value()], member);
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes nodes{problem};
  if (problem.rank == problem.root) {
    append_root(plan, problem, nodes);
    return plan.build();
  }
  if (nodes.leads()) append_leader(plan, problem, nodes.mine());
  if (!Carried{problem}(plan.input().count))
    plan.send(plan.input(), problem.root);
  else if (!nodes.leads())
    plan.send(plan.input(), nodes.leader(nodes.own()));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Nodes nodes{problem};
  const Count n = problem.count;
  const bool crosses = nodes.count() > 1;
  return {.messages = std::min(problem.size - 1, 1),
          .rounds = (nodes.lanes() > 1 ? 1 : 0) + (crosses ? 1 : 0),
          .sent = (crosses ? nodes.lanes() : std::min(problem.size - 1, 1)) * n,
          .copied = n,
          .scratch = (crosses ? nodes.lanes() - 1 : 0) * n};
}

}  // namespace

extern const Algorithm gather_two_level;
constinit const Algorithm gather_two_level{
    .collective = Collective::gather,
    .name = "two_level",
    .order = Order::of_ranks,
    .levels = Levels::nodes,
    .parameter = Carried::parameter,
    .build = build,
    .cost = cost,
    .exchange = leaders_learn_sizes,
    .summary = "to the leader of each node, which sends the root one message",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
