/// Reduce along the chain of ranks that ends at the root. For large counts in segments, which follow each other.
/// Shapes   in[n] -> out[n] on the root, elements; scratch n
/// Cost     p-1 rounds; one message of n elements per rank, and n reduced
/// Needs    commutative operation; any p >= 1, any n >= 0, any root
/// Source   folklore
#include "algorithms/phases_trees.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const TreePlace place = chain_place(problem.rank, problem.size, problem.root);
  const Region theirs = plan.scratch(place.children.empty() ? Count{0} : problem.count);
  const Region sum = place.parent ? theirs : plan.output();  // an input in place must outlive the receive
  const Region done = append_tree_reduce(plan, place, plan.input(), sum, theirs);
  if (!place.parent) plan.copy(done, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 1, .rounds = problem.size - 1, .sent = n, .reduced = n, .scratch = n};
}

}  // namespace

extern const Algorithm reduce_chain;
constinit const Algorithm reduce_chain{
    .collective = Collective::reduce,
    .name = "chain",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "from rank to rank: least volume, for large counts in segments",
    .source = "folklore",
};

}  // namespace tutti
