/// Reduce up two binary trees, each of which carries half of the data.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n on the root and on ranks with children
/// Cost     1 + floor(log2(p-1)) rounds; two messages of n/2 per rank; n reduced: no rank has children in both trees
/// Needs    commutative operation; any p >= 1, any n >= 0, any root
/// Source   Sanders, Speck & Traeff, Parallel Computing 35(12), 2009
#include "phases_trees.hpp"
#include "tutti/algorithm.hpp"
#include "two_trees_pattern.hpp"

namespace tutti {
namespace {

constexpr int trees = 2;

void append_half(ScheduleBuilder& plan, const TreePlace& place, const Region& mine, bool at_root) {
  const Count needed = place.children.empty() ? Count{0} : mine.count;
  const Region theirs = plan.scratch(needed);
  const Region sum = at_root ? mine.in(Buffer::output) : plan.scratch(needed);
  append_tree_reduce(plan, place, mine, sum, theirs);
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Blocks halves{plan.input(), trees};
  for (int tree = 0; const TreePlace& place : two_trees_below(problem.root, problem.rank, problem.size))
    append_half(plan, place, halves[tree++], problem.rank == problem.root);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count, half = Blocks{{Buffer::input, Count{0}, n}, trees}.largest();
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = trees,
          .rounds = 1 + binary_depth(problem.size - 1),
          .sent = trees * half,
          .reduced = trees * half,
          .scratch = trees * half};
}

}  // namespace

extern const Algorithm reduce_two_tree;
constinit const Algorithm reduce_two_tree{
    .collective = Collective::reduce,
    .name = "two_tree",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "half of the data up each of two binary trees: log2 p rounds, and each rank reduces about n",
    .source = "Sanders, Speck & Traeff, Parallel Computing 35(12), 2009",
};

}  // namespace tutti
