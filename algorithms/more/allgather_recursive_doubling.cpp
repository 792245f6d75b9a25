/// Recursive doubling allgather: in round k, ranks at distance 2^k exchange all that they hold, side by side.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     c = 2^floor(log2 p): log2 c messages and rounds and p-1 blocks sent per rank, if p = c the least volume
///          that is possible; else the odd rank of a pair sends up to 2(p-1) blocks, and there are 1 or 2 rounds more
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include "algorithms/folded_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int p = problem.size, own = problem.rank.value();
  const Folding fold{problem.rank, p};
  const FoldedBlocks folded{fold, p};
  const Blocks out = output_blocks(problem);
  const int partner = fold.partner().value();
  plan.copy(plan.input(), out[own]);
  if (fold.sits_out()) {
    plan.send(plan.input(), fold.partner());
    plan.recv(others(out, own), fold.partner());
    return plan.build();
  }
  if (fold.paired()) plan.recv(out[partner], fold.partner());
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const auto mine = folded.around(fold.position(), distance),
               theirs = folded.around(fold.position() ^ distance, distance);
    const bool alone = mine.last - mine.first == 1;
    plan.send(alone ? Regions{plan.input()} : out.list(mine.first, mine.last), fold.across(distance));
    plan.recv(out.list(theirs.first, theirs.last), fold.across(distance));
  }
  if (fold.paired()) plan.send(others(out, partner), fold.partner());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const Folding fold{problem.rank, p};
  const FoldedBlocks folded{fold, p};
  int sent = fold.even() ? 0 : p - 1;
  for (int positions = 1; positions < fold.core(); positions *= 2)
    sent += folded.most_together(positions);
  return {.messages = fold.rounds() + (fold.even() ? 0 : 1),
          .rounds = folded.longest_chain(fold),
          .sent = sent * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_recursive_doubling;
constinit const Algorithm allgather_recursive_doubling{
    .collective = Collective::allgather,
    .name = "recursive_doubling",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "pairs exchange all they have: least volume and fewest rounds if p is a power of two",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
