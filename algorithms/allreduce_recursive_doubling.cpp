/// Recursive doubling allreduce: in round k, ranks at distance 2^k exchange everything and reduce.
/// Shapes   in[n] -> out[n], elements; scratch n
/// Cost     c = 2^floor(log2 p): log2 c messages and rounds, n elements sent and reduced per message;
///          unless p = c, 1 round more (2 if p > 3c/2), and the ranks of a pair also exchange two messages
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include "folded_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Count n = problem.count;
  const Folding fold{problem.rank, problem.size};
  if (fold.sits_out()) {
    plan.send(plan.input(), fold.partner());
    plan.recv(plan.output(), fold.partner());
    return plan.build();
  }
  const Region theirs = plan.scratch(problem.size > 1 ? n : Count{0});
  Region mine = plan.input();
  if (fold.paired()) {
    plan.recv(theirs, fold.partner());
    plan.reduce(theirs, mine, plan.output());
    mine = plan.output();
  }
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const Rank peer = fold.across(distance);
    plan.send(mine, peer);
    plan.recv(theirs, peer);
    plan.reduce_in_order(peer, theirs, mine, plan.output());
    mine = plan.output();
  }
  plan.copy(mine, plan.output());  // only a rank alone still has its result in the input
  if (fold.paired()) plan.send(mine, fold.partner());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Folding fold{problem.rank, problem.size};
  const int exchanges = fold.rounds() + (fold.even() ? 0 : 1);
  return {.messages = exchanges,
          .rounds = FoldedBlocks{fold, problem.size}.longest_chain(fold),
          .sent = exchanges * n,
          .reduced = exchanges * n,
          .scratch = n};
}

}  // namespace

extern const Algorithm allreduce_recursive_doubling;
constinit const Algorithm allreduce_recursive_doubling{
    .collective = Collective::allreduce,
    .name = "recursive_doubling",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "pairs at distance 1, 2, 4, ... exchange everything: fewest rounds, for small counts",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
    .bits = Bits::fixed,
};

}  // namespace tutti
