/// Binomial gather (or k-nomial, by the radix k), which is the binomial scatter backwards: blocks go up a tree whose
/// subtrees are ranges of ranks.
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; scratch up to (p/2 - 1) n
/// Cost     1 message, ceil(log_k p) rounds, n times the size of the own subtree sent per rank; n copied on the root
/// Needs    any p >= 1, any n >= 0; sizes that are not equal go up the tree first
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include "subtree_pattern.hpp"
#include "tutti/reversed.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

extern const Algorithm scatter_binomial;

namespace {

SplitTree tree_of(const Problem& problem) { return {problem.rank, problem.size, problem.root, problem.parameter}; }

Schedule build(const Problem& problem) { return reversed(scatter_binomial, problem); }

/// Sends sizes up the tree of the gather: every rank learns those of its subtree.
Exchange exchange(const Problem& problem) {
  const SplitTree tree = tree_of(problem);
  const Count own{1}, all{tree.last() - tree.first()};
  ScheduleBuilder plan{{problem.rank, problem.size}, own, all};
  const Blocks sizes{plan.output(), tree.last() - tree.first()};
  plan.copy(plan.input(), sizes[problem.rank.value() - tree.first()]);
  for (const auto& level : tree.levels())
    for (const auto& child : level)
      plan.recv(sizes.span(child.first - tree.first(), child.last - tree.first()), child.rank);
  if (!tree.is_root()) plan.send(plan.output(), tree.parent());
  return {plan.build(), own, all};
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const SplitTree root{problem.root, problem.size, problem.root, problem.parameter};
  const SubtreeFigures tree{root, problem.parameter};
  return {
      .messages = 1, .rounds = tree.depth, .sent = tree.largest * n, .copied = n, .scratch = (tree.largest - 1) * n};
}

}  // namespace

extern const Algorithm gather_binomial;
constinit const Algorithm gather_binomial{
    .collective = Collective::gather,
    .name = "binomial",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "up a binomial tree (or one of another radix): fewest rounds, for small blocks",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
