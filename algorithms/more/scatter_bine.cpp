/// Bine scatter: blocks go down the tree of the Bine broadcast, whose subtrees are ranges round a circle of ranks.
/// Shapes   in[p n] on the root -> out[n], elements, or blocks of listed sizes; scratch up to (p/2 - 1) n
/// Cost     ceil(log2 p) rounds (of some roots one less); the root sends (p-1) n elements in up to ceil(log2 p)
///          messages and copies n
/// Needs    any p >= 1, any n >= 0, any root; sizes that are not equal go down the tree first
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include "algorithms/bine_pattern.hpp"
#include "algorithms/subtree_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const BineTree tree{problem.rank, problem.size, problem.root};
  if (tree.is_root()) {
    const Blocks blocks = input_blocks(problem);
    for (const auto& child : tree.children())
      plan.send(tree.blocks_below(child, blocks), child.rank);
    plan.copy(blocks[problem.root.value()], plan.output());
    return plan.build();
  }
  const Subtree subtree{problem, 0, static_cast<int>(tree.ranks().size())};
  plan.scratch(subtree.count());
  plan.recv({plan.output(), subtree.others()}, *tree.parent());
  for (const auto& child : tree.children())
    plan.send(subtree.below(child), child.rank);
  return plan.build();
}

/// Sends sizes down the tree of the scatter: every rank but the root, which knows all, learns those of its subtree.
Exchange exchange(const Problem& problem) {
  const BineTree tree{problem.rank, problem.size, problem.root};
  const int ranks = static_cast<int>(tree.ranks().size());
  const Count known{tree.is_root() ? ranks : 0}, learned{tree.is_root() ? 0 : ranks};
  ScheduleBuilder plan{{problem.rank, problem.size}, known, learned};
  const Blocks all{plan.input(), ranks}, below{plan.output(), ranks};
  if (!tree.is_root()) plan.recv(plan.output(), *tree.parent());
  for (const auto& child : tree.children())
    plan.send(tree.is_root() ? tree.blocks_below(child, all) : Regions{below.span(child.first, child.last)},
              child.rank);
  return {plan.build(), known, learned};
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const BineTree tree{problem.root, problem.size, problem.root};
  return {.messages = static_cast<int>(tree.children().size()),
          .rounds = tree.depth(),
          .sent = (problem.size - 1) * n,
          .copied = n,
          .scratch = (tree.largest() - 1) * n};
}

}  // namespace

extern const Algorithm scatter_bine;
constinit const Algorithm scatter_bine{
    .collective = Collective::scatter,
    .name = "bine",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "down a tree of distances ..., -5, 3, -1, 1: fewest rounds, little crosses between groups of neighbours",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
