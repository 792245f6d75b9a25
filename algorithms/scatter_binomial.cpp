/// Binomial scatter (or k-nomial, by the radix k): blocks go down a tree whose subtrees are ranges of ranks.
/// Shapes   in[p n] on the root -> out[n], elements, or blocks of listed sizes; scratch up to (p/2 - 1) n
/// Cost     ceil(log_k p) rounds; the root sends (p-1) n elements in at most (k-1) ceil(log_k p) messages and copies n
/// Needs    any p >= 1, any n >= 0; sizes that are not equal go down the tree first
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include "subtree_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

SplitTree tree_of(const Problem& problem) { return {problem.rank, problem.size, problem.root, problem.parameter}; }

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const SplitTree tree = tree_of(problem);
  if (tree.is_root()) {
    const Blocks blocks = input_blocks(problem);
    for (const auto& level : tree.levels())
      for (const auto& child : level)
        plan.send(blocks.list(child.first, child.last), child.rank);
    plan.copy(blocks[problem.root.value()], plan.output());
    return plan.build();
  }
  const Subtree subtree{problem, tree};
  plan.scratch(subtree.count());
  plan.recv({plan.output(), subtree.others()}, tree.parent());
  for (const auto& level : tree.levels())
    for (const auto& child : level)
      plan.send(subtree.below(child), child.rank);
  return plan.build();
}

/// Sends sizes down the tree of the scatter: every rank learns those of its subtree. Only the root knows any before.
Exchange exchange(const Problem& problem) {
  const SplitTree tree = tree_of(problem);
  const Count all{tree.last() - tree.first()}, known = tree.is_root() ? all : Count{0};
  ScheduleBuilder plan{{problem.rank, problem.size}, known, all};
  const Blocks sizes{plan.output(), tree.last() - tree.first()};
  if (tree.is_root())
    plan.copy(plan.input(), plan.output());
  else
    plan.recv(plan.output(), tree.parent());
  for (const auto& level : tree.levels())
    for (const auto& child : level)
      plan.send(sizes.span(child.first - tree.first(), child.last - tree.first()), child.rank);
  return {plan.build(), known, all};
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const SplitTree root{problem.root, problem.size, problem.root, problem.parameter};
  const SubtreeFigures tree{root, problem.parameter};
  return {.messages = tree.children,
          .rounds = tree.depth,
          .sent = (problem.size - 1) * n,
          .copied = n,
          .scratch = (tree.largest - 1) * n};
}

}  // namespace

extern const Algorithm scatter_binomial;
constinit const Algorithm scatter_binomial{
    .collective = Collective::scatter,
    .name = "binomial",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "down a binomial tree (or one of another radix): fewest rounds, for small blocks",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
