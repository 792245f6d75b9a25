/// Bine reduce: the tree of the Bine broadcast, upwards, at distances 1, -1, 3, -5, 11, ...
/// Shapes   in[n] -> out[n] on the root, elements; scratch n on the root, 2n on other ranks with children
/// Cost     ceil(log2 p) rounds (of some roots one less); a message of n per rank; the root reduces up to ceil(log2 p)
///          times n
/// Needs    commutative operation; any p >= 1, any n >= 0, any root
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include "algorithms/bine_pattern.hpp"
#include "algorithms/phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const BineTree tree{problem.rank, problem.size, problem.root};
  const Count needed = tree.children().empty() ? Count{0} : problem.count;
  const Region theirs = plan.scratch(needed);
  const Region sum = tree.is_root() ? plan.output() : plan.scratch(needed);
  const Region done = append_tree_reduce(plan, tree.place(), plan.input(), sum, theirs);
  if (tree.is_root()) plan.copy(done, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const BineTree tree{problem.root, problem.size, problem.root};
  return {.messages = 1,
          .rounds = tree.depth(),
          .sent = n,
          .reduced = static_cast<int>(tree.children().size()) * n,
          .scratch = (tree.largest() > 1 ? 2 : 1) * n};
}

}  // namespace

extern const Algorithm reduce_bine;
constinit const Algorithm reduce_bine{
    .collective = Collective::reduce,
    .name = "bine",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "up a tree of distances 1, -1, 3, -5, ...: fewest rounds, little crosses between groups of neighbours",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
