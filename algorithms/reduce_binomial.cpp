/// Binomial reduce over a folded group: the partial sums are those of recursive doubling, whatever the root.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n on the root, 2n on other ranks with children
/// Cost     c = 2^floor(log2 p): log2 c rounds, unless p = c up to 1 more; a message of n per rank; the root reduces
///          log2 c times n, and once more if it is of a pair
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any root
/// Source   the exchange of Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005, in one direction
#include <algorithm>
#include <bit>

#include "phases_trees.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"

namespace tutti {
namespace {

/// The place of a rank in the tree. In each round the positions of the core whose bit differs from that of the root's
/// position send their sums, as in recursive doubling, and are done. The root stands for its pair.
TreePlace folded_place(Rank rank, int size, Rank root) {
  const Folding fold{rank, size}, of_root{root, size};
  const bool is_at_root = fold.position() == of_root.position();
  TreePlace place;
  if (fold.paired() && (is_at_root ? rank != root : fold.sits_out())) {
    place.parent = fold.partner();
    return place;
  }
  if (fold.paired()) place.children.push_back(fold.partner());
  for (int distance = 1; distance < fold.core() && !place.parent; distance *= 2) {
    const bool receives = ((fold.position() ^ of_root.position()) & distance) == 0;
    const bool is_root = (fold.position() ^ distance) == of_root.position();
    if (receives)
      place.children.push_back(fold.across(distance));
    else
      place.parent = is_root ? root : fold.across(distance);
  }
  std::ranges::reverse(place.children);  // the largest subtree first
  return place;
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const bool is_root = problem.rank == problem.root;
  const TreePlace place = folded_place(problem.rank, problem.size, problem.root);
  const Count needed = place.children.empty() ? Count{0} : problem.count;
  const Region theirs = plan.scratch(needed);
  const Region sum = is_root ? plan.output() : plan.scratch(needed);
  const Region done = append_tree_reduce(plan, place, plan.input(), sum, theirs);
  if (is_root) plan.copy(done, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Folding of_root{problem.root, problem.size};
  const int pairs = problem.size - of_root.core();
  int rounds = of_root.rounds();
  for (int pair = 0; pair < pairs; ++pair)
    rounds = std::max(rounds, 1 + std::popcount(static_cast<unsigned>(pair ^ of_root.position())));
  const bool has_inner_ranks = of_root.core() > 2 || pairs > (of_root.paired() ? 1 : 0);
  return {.messages = 1,
          .rounds = rounds,
          .sent = n,
          .reduced = (of_root.rounds() + (of_root.paired() ? 1 : 0)) * n,
          .scratch = (has_inner_ranks ? 2 : 1) * n};
}

}  // namespace

extern const Algorithm reduce_binomial;
constinit const Algorithm reduce_binomial{
    .collective = Collective::reduce,
    .name = "binomial",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "up a binomial tree over folded ranks: few rounds, and one expression whatever the root",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
    .bits = Bits::fixed,
};

}  // namespace tutti
