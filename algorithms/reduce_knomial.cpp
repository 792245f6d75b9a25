/// K-nomial reduce: the broadcast's tree, upwards.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n on the root, 2n on other ranks with children
/// Cost     k the radix: ceil(log_k p) rounds (of some roots one less); a message of n per rank; the root reduces up to
///          (k-1) log_k p times n
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any root
/// Source   Johnsson & Ho, IEEE Transactions on Computers 38(9), 1989 (k = 2)
#include "phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

Region append_tree_reduce(ScheduleBuilder& plan, const TreePlace& place, const Region& mine, const Region& sum,
                          const Region& theirs) {
  Region done = mine;
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child) {
    plan.recv(theirs, *child);
    plan.reduce_in_order(*child, theirs, done, sum);
    done = sum;
  }
  if (place.parent) plan.send(done, *place.parent);
  return done;
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const SplitTree tree{problem.rank, problem.size, problem.root, problem.parameter};
  const TreePlace place = knomial_place(tree, problem.rank);
  const Count needed = place.children.empty() ? Count{0} : problem.count;
  const Region theirs = plan.scratch(needed);
  const Region sum = tree.is_root() ? plan.output() : plan.scratch(needed);
  const Region done = append_tree_reduce(plan, place, plan.input(), sum, theirs);
  if (tree.is_root()) plan.copy(done, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const KnomialShape tree = knomial_shape(problem.size, problem.root, problem.parameter);
  return {.messages = 1,
          .rounds = tree.depth,
          .sent = n,
          .reduced = tree.most_children() * n,
          .scratch = (tree.inner_children > 0 ? 2 : 1) * n};
}

}  // namespace

extern const Algorithm reduce_knomial;
constinit const Algorithm reduce_knomial{
    .collective = Collective::reduce,
    .name = "knomial",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "up a k-nomial tree: fewest rounds, for small counts",
    .source = "Johnsson & Ho, IEEE Transactions on Computers 38(9), 1989",
};

}  // namespace tutti
