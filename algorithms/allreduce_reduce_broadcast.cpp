/// Reduce up a k-nomial tree to rank 0, then broadcast down the same tree.
/// Shapes   in[n] -> out[n], elements; scratch n on ranks with children
/// Cost     k the radix: 2 ceil(log_k p) rounds; rank 0 sends n elements to each of its up to (k-1) log_k p children
///          and reduces as many
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include "phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

constexpr Rank root{0};

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const SplitTree tree{problem.rank, problem.size, root, problem.parameter};
  const TreePlace place = knomial_place(tree, problem.rank);
  const Region theirs = plan.scratch(place.children.empty() ? Count{0} : problem.count);
  const Region done = append_tree_reduce(plan, place, plan.input(), plan.output(), theirs);
  append_tree_broadcast(plan, place, done, plan.output());
  if (tree.is_root()) plan.copy(done, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const KnomialShape tree = knomial_shape(problem.size, root, problem.parameter);
  const int messages = std::max(tree.root_children, tree.inner_children + 1);
  return {.messages = messages,
          .rounds = 2 * tree.depth,
          .sent = messages * n,
          .reduced = tree.most_children() * n,
          .scratch = n};
}

}  // namespace

extern const Algorithm allreduce_reduce_broadcast;
constinit const Algorithm allreduce_reduce_broadcast{
    .collective = Collective::allreduce,
    .name = "reduce_broadcast",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "up a k-nomial tree and back down: few messages, for ranks that share processors",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
