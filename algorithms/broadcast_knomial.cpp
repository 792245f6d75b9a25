/// K-nomial broadcast: the root of a range of ranks serves the first rank of each other part of it, and so on.
/// Shapes   in[n] on the root -> out[n], elements; no scratch
/// Cost     k the radix: ceil(log_k p) rounds (of some roots one less); the root sends up to (k-1) log_k p messages of
///          n elements
/// Needs    any p >= 1, any n >= 0, any root
/// Source   Johnsson & Ho, IEEE Transactions on Computers 38(9), 1989 (k = 2)
#include "phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_tree_broadcast(ScheduleBuilder& plan, const TreePlace& place, const Region& from, const Region& into) {
  if (place.parent) plan.recv(into, *place.parent);
  for (const Rank child : place.children)
    plan.send(place.parent ? into : from, child);
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const SplitTree tree{problem.rank, problem.size, problem.root, problem.parameter};
  append_tree_broadcast(plan, knomial_place(tree, problem.rank), plan.input(), plan.output());
  if (tree.is_root()) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const KnomialShape tree = knomial_shape(problem.size, problem.root, problem.parameter);
  return {.messages = tree.most_children(), .rounds = tree.depth, .sent = tree.most_children() * n, .copied = n};
}

}  // namespace

extern const Algorithm broadcast_knomial;
constinit const Algorithm broadcast_knomial{
    .collective = Collective::broadcast,
    .name = "knomial",
    .order = Order::any,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "down a k-nomial tree: fewest rounds, for small counts",
    .source = "Johnsson & Ho, IEEE Transactions on Computers 38(9), 1989",
};

}  // namespace tutti
