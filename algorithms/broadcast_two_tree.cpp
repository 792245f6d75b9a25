/// Broadcast down two binary trees, each of which carries half of the data.
/// Shapes   in[n] -> out[n], elements; no scratch
/// Cost     1 + floor(log2(p-1)) rounds; at most two messages of n/2 per rank: no rank has children in both trees
/// Needs    any p >= 1, any n >= 0, any root
/// Source   Sanders, Speck & Traeff, Parallel Computing 35(12), 2009
#include "phases_trees.hpp"
#include "tutti/algorithm.hpp"
#include "two_trees_pattern.hpp"

namespace tutti {
namespace {

constexpr int trees = 2;

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size > 1) {
    const auto places = two_trees_below(problem.root, problem.rank, problem.size);
    const Blocks halves{plan.output(), trees};
    for (int tree = 0; const TreePlace& place : places) {
      const Region half = halves[tree++];
      append_tree_broadcast(plan, place, half.in(Buffer::input), half);
    }
  }
  if (problem.rank == problem.root) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count, half = Blocks{{Buffer::output, Count{0}, n}, trees}.largest();
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = trees, .rounds = 1 + binary_depth(problem.size - 1), .sent = trees * half, .copied = n};
}

}  // namespace

extern const Algorithm broadcast_two_tree;
constinit const Algorithm broadcast_two_tree{
    .collective = Collective::broadcast,
    .name = "two_tree",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "half of the data down each of two binary trees: log2 p rounds, and each rank sends it once",
    .source = "Sanders, Speck & Traeff, Parallel Computing 35(12), 2009",
};

}  // namespace tutti
