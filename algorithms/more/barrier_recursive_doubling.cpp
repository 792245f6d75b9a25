/// Recursive doubling barrier: in round k, ranks at distance 2^k signal each other.
/// Shapes   no data, no scratch
/// Cost     c = 2^floor(log2 p): log2 c rounds of a signal per rank; unless p = c, 1 round more (2 if p > 3c/2),
///          and the ranks of a pair also signal each other
/// Needs    any p >= 1
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005 (the exchange, there with data)
#include "algorithms/folded_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Folding fold{problem.rank, problem.size};
  if (fold.sits_out()) {
    plan.signal(fold.partner());
    plan.await(fold.partner());
    return plan.build();
  }
  if (fold.paired()) plan.await(fold.partner());
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const Rank peer = fold.across(distance);
    plan.signal(peer);
    plan.await(peer);
  }
  if (fold.paired()) plan.signal(fold.partner());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Folding fold{problem.rank, problem.size};
  if (fold.even()) return {.messages = fold.rounds(), .rounds = fold.rounds()};
  return {.messages = fold.rounds() + 1, .rounds = FoldedBlocks{fold, problem.size}.longest_chain(fold)};
}

}  // namespace

extern const Algorithm barrier_recursive_doubling;
constinit const Algorithm barrier_recursive_doubling{
    .collective = Collective::barrier,
    .name = "recursive_doubling",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "pairs at distance 1, 2, 4, ... signal each other: for powers of two",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
