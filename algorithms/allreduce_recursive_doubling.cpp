/// Recursive doubling allreduce: in round k, ranks at distance 2^k exchange everything and reduce.
/// Shapes   in[n] -> out[n], elements; scratch n
/// Cost     ceil(log2 p) messages and rounds (2 rounds more unless p is a power of two);
///          n elements sent and reduced per message
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const auto [rank, size, n, aliasing] = problem;
  const Folding fold{rank, size};
  if (fold.sits_out()) {
    plan.send(plan.input(), fold.partner());
    plan.recv(plan.output(), fold.partner());
    return plan.build();
  }
  const Region theirs = plan.scratch(size > 1 ? n : Count{0});
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
  const auto [rank, size, n, aliasing] = problem;
  if (size == 1) return {.copied = aliasing.offset() ? Count{0} : n};
  const Folding fold{rank, size};
  const bool any = n > Count{0};
  const int rounds = any ? fold.rounds() + (fold.even() ? 0 : 2) : 0;
  if (fold.sits_out()) return {.messages = any ? 1 : 0, .rounds = rounds, .sent = n};
  const int exchanges = fold.rounds() + (fold.paired() ? 1 : 0);
  return {.messages = any ? exchanges : 0,
          .rounds = rounds,
          .sent = exchanges * n,
          .reduced = exchanges * n,
          .copied = Count{0},
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
};

}  // namespace tutti
