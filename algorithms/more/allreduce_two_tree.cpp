/// Allreduce up and down two binary trees, each of which carries half of the data.
/// Shapes   in[n] -> out[n], elements; scratch n/2 on ranks with children
/// Cost     2 floor(log2 p) rounds, 2 more if p is odd; up to 4 messages of n/2 per rank, and n reduced: no rank has
///          children in both trees
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Sanders, Speck & Traeff, Parallel Computing 35(12), 2009
#include "algorithms/phases_trees.hpp"
#include "algorithms/two_trees_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

constexpr int trees = 2, most_messages = 4;

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Blocks halves{plan.output(), trees};
  const auto places = two_trees_over(problem.rank, problem.size);
  for (int tree = 0; const TreePlace& place : places) {
    const Region sum = halves[tree++];
    const Region theirs = plan.scratch(place.children.empty() ? Count{0} : sum.count);
    append_tree_reduce(plan, place, sum.in(Buffer::input), sum, theirs);
  }
  for (int tree = 0; const TreePlace& place : places) {
    const Region sum = halves[tree++];
    append_tree_broadcast(plan, place, sum, sum);
  }
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, half = Blocks{{Buffer::output, Count{0}, n}, trees}.largest();
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const int messages = std::min(p, most_messages);  // one up each tree, two down one; the tops send none up
  return {.messages = messages,
          .rounds = 2 * two_trees_depth(p),
          .sent = messages * half,
          .reduced = (p == 2 ? 1 : 2) * half,
          .scratch = half};
}

}  // namespace

extern const Algorithm allreduce_two_tree;
constinit const Algorithm allreduce_two_tree{
    .collective = Collective::allreduce,
    .name = "two_tree",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "half of the data up and down each of two binary trees: log2 p rounds, about 2n sent per rank",
    .source = "Sanders, Speck & Traeff, Parallel Computing 35(12), 2009",
};

}  // namespace tutti
