/// Bine gather, which is the Bine scatter backwards: blocks go up a tree at distances 1, -1, 3, -5, 11, ...
/// Shapes   in[n] -> out[p n] on the root, elements, or blocks of listed sizes; scratch up to (p/2 - 1) n
/// Cost     1 message, ceil(log2 p) rounds (of some roots one less), n times the size of the own subtree sent per
///          rank; n copied on the root
/// Needs    any p >= 1, any n >= 0, any root; sizes that are not equal go up the tree first
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include "algorithms/bine_pattern.hpp"
#include "tutti/reversed.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

extern const Algorithm scatter_bine;

namespace {

Schedule build(const Problem& problem) { return reversed(scatter_bine, problem); }

/// Sends sizes up the tree of the gather: every rank learns those of its subtree, the root by rank.
Exchange exchange(const Problem& problem) {
  const BineTree tree{problem.rank, problem.size, problem.root};
  const int ranks = static_cast<int>(tree.ranks().size());
  const Count own{1}, all{ranks};
  ScheduleBuilder plan{{problem.rank, problem.size}, own, all};
  const Blocks sizes{plan.output(), ranks};
  plan.copy(plan.input(), sizes[tree.is_root() ? problem.root.value() : 0]);
  for (const auto& child : tree.children()) {
    const Regions below =
        tree.is_root() ? tree.blocks_below(child, sizes) : Regions{sizes.span(child.first, child.last)};
    plan.recv(below, child.rank);
  }
  if (!tree.is_root()) plan.send(plan.output(), *tree.parent());
  return {plan.build(), own, all};
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const BineTree tree{problem.root, problem.size, problem.root};
  return {.messages = 1,
          .rounds = tree.depth(),
          .sent = tree.largest() * n,
          .copied = n,
          .scratch = (tree.largest() - 1) * n};
}

}  // namespace

extern const Algorithm gather_bine;
constinit const Algorithm gather_bine{
    .collective = Collective::gather,
    .name = "bine",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "up a tree of distances 1, -1, 3, -5, ...: fewest rounds, little crosses between groups of neighbours",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
