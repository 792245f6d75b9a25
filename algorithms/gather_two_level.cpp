/// Two-level gather, which is the two-level scatter backwards: blocks go to the leader of their node, which sends all
/// of them to the root in one message.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; scratch on leaders m-1 blocks
/// Cost     2 rounds; a leader of m ranks sends m n elements in one message; n copied on the root
/// Needs    any p >= 1, any n >= 0, any root, any spread over nodes; sizes that are not equal go to leaders first, and
///          blocks of more than `largest` straight to the root
/// Source   Kielmann et al., PPoPP 1999 (MagPIe)
#include "carried_pattern.hpp"
#include "nodes_pattern.hpp"
#include "phases_sizes.hpp"
#include "tutti/reversed.hpp"

namespace tutti {

extern const Algorithm scatter_two_level;

namespace {

Schedule build(const Problem& problem) { return reversed(scatter_two_level, problem); }

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
