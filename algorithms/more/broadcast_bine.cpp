/// Bine broadcast: a tree in which ranks hand on at distances ..., 11, -5, 3, -1, 1, which are about two thirds of
/// those of a binomial tree, so that less crosses between groups of neighbours, wherever these begin. Unless p is a
/// power of two, the first ranks pair up, and one of a pair gets everything from the other.
/// Shapes   in[n] on the root -> out[n], elements; no scratch
/// Cost     ceil(log2 p) rounds (of some roots one less); the root sends up to ceil(log2 p) messages of n elements
/// Needs    any p >= 1, any n >= 0, any root
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include "algorithms/bine_pattern.hpp"
#include "algorithms/phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const BineTree tree{problem.rank, problem.size, problem.root};
  append_tree_broadcast(plan, tree.place(), plan.input(), plan.output());
  if (tree.is_root()) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const BineTree tree{problem.root, problem.size, problem.root};
  const int children = static_cast<int>(tree.children().size());
  return {.messages = children, .rounds = tree.depth(), .sent = children * n, .copied = n};
}

}  // namespace

extern const Algorithm broadcast_bine;
constinit const Algorithm broadcast_bine{
    .collective = Collective::broadcast,
    .name = "bine",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "down a tree of distances ..., -5, 3, -1, 1: fewest rounds, little crosses between groups of neighbours",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
