/// Rabenseifner's allreduce: reduce-scatter by recursive halving, then allgather by recursive doubling.
/// Shapes   in[n] -> out[n], elements; scratch about n/2 (n for ranks that stand for a pair)
/// Cost     c = 2^floor(log2 p): 2 log2 c messages and rounds, 2n(c-1)/c elements sent, n(c-1)/c reduced per rank;
///          unless p = c, 2 rounds more, and the ranks of a pair also exchange and reduce n
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Rabenseifner, ICCS 2004, LNCS 3036
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Count scratch_needed(const Folding& fold, Count n) {
  if (fold.sits_out() || fold.core() == 1) return Count{0};
  return fold.paired() ? n : Blocks{{Buffer::output, Count{0}, n}, fold.core()}.span(0, fold.core() / 2).count;
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Count n = problem.count;
  const Folding fold{problem.rank, problem.size};
  if (fold.sits_out()) {
    plan.send(plan.input(), fold.partner());
    plan.recv(plan.output(), fold.partner());
    return plan.build();
  }
  const Region scratch = plan.scratch(scratch_needed(fold, n));
  Buffer mine = Buffer::input;  // where this rank's partial results are: in the output after the first reduction
  if (fold.paired()) {
    plan.recv(scratch, fold.partner());
    plan.reduce(scratch, plan.input(), plan.output());
    mine = Buffer::output;
  }
  const std::vector<Halving> rounds = recursive_halving(fold, plan.output());
  for (const auto& [peer, kept, given] : rounds) {
    const Region theirs = scratch.first(kept.count);
    plan.send(given.in(mine), peer);
    plan.recv(theirs, peer);
    plan.reduce_in_order(peer, theirs, kept.in(mine), kept);
    mine = Buffer::output;
  }
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    plan.send(round->kept, round->peer);
    plan.recv(round->given, round->peer);
  }
  plan.copy(plan.output().in(mine), plan.output());  // only a rank alone still has its result in the input
  if (fold.paired()) plan.send(plan.output(), fold.partner());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Folding fold{problem.rank, problem.size};
  const int paired = fold.even() ? 0 : 1;
  const Count block = Blocks{{Buffer::output, Count{0}, n}, fold.core()}.largest();
  return {.messages = 2 * fold.rounds() + paired,
          .rounds = 2 * (fold.rounds() + paired),
          .sent = 2 * ((fold.core() - 1) * block) + paired * n,
          .reduced = (fold.core() - 1) * block + paired * n,
          .scratch = fold.even() ? fold.core() / 2 * block : n};
}

}  // namespace

extern const Algorithm allreduce_rabenseifner;
constinit const Algorithm allreduce_rabenseifner{
    .collective = Collective::allreduce,
    .name = "rabenseifner",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "recursive halving, then recursive doubling: least volume and 2 log2 p rounds",
    .source = "Rabenseifner, ICCS 2004, LNCS 3036",
    .bits = Bits::fixed,
};

}  // namespace tutti
