/// Swing allreduce: reduce-scatter by halving, then allgather, with peers on a ring at distances 1, -1, 3, -5, 11, ...
/// Shapes   in[n] -> out[n], elements; scratch about n/2 (n for ranks that stand for a pair)
/// Cost     c = 2^floor(log2 p): 2 log2 c messages and rounds, 2n(c-1)/c elements sent, n(c-1)/c reduced per rank, if
///          p = c divides n the least volumes that are possible; else 2 rounds more, and pairs exchange and reduce n
/// Needs    commutative operation; any p >= 1, any n >= 0
/// Source   De Sensi, Bonato, Saam & Hoefler, NSDI 2024
#include <vector>

#include "algorithms/folded_pattern.hpp"
#include "algorithms/phases_swing.hpp"
#include "algorithms/swing_pattern.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// Reduces a peer's elements with this rank's part, which is in `mine`, piece by piece.
void append_sum(ScheduleBuilder& plan, Region theirs, Buffer mine, const Regions& into) {
  for (const Region& piece : into) {
    plan.reduce(theirs.first(piece.count), piece.in(mine), piece);
    theirs.offset += piece.count;
  }
}

}  // namespace

Region append_swing(ScheduleBuilder& plan, const Folding& fold, const Region& input, const Region& into) {
  if (fold.sits_out()) {
    plan.send(input, fold.partner());
    plan.recv(into, fold.partner());
    return into;
  }
  const Blocks blocks{into, fold.core()};
  const Swing swing{fold.position(), fold.core()};
  const Count most = fold.core() > 1 ? total(chosen(blocks, swing.rounds()[0].kept)) : Count{0};
  const Region theirs = plan.scratch(fold.paired() ? into.count : most);
  Region mine = input;  // where this rank's partial results are: in `into` after the first reduction
  if (fold.paired()) {
    plan.recv(theirs, fold.partner());
    plan.reduce(theirs, input, into);
    mine = into;
  }
  for (const auto& [peer, kept, given] : swing.rounds()) {
    const Regions sums = chosen(blocks, kept);
    plan.send(chosen({mine, fold.core()}, given), fold.at(peer));
    plan.recv(theirs.first(total(sums)), fold.at(peer));
    append_sum(plan, theirs, mine.buffer, sums);
    mine = into;
  }
  for (auto round = swing.rounds().rbegin(); round != swing.rounds().rend(); ++round) {
    plan.send(chosen(blocks, round->kept), fold.at(round->peer));
    plan.recv(chosen(blocks, round->given), fold.at(round->peer));
  }
  if (fold.paired()) plan.send(mine, fold.partner());
  return mine;
}

Cost cost_of_swing(int size, Count n) {
  if (size == 1) return {};
  const Folding fold{Rank{0}, size};
  const int paired = fold.even() ? 0 : 1, c = fold.core();
  const Count block = Blocks{{Buffer::output, Count{0}, n}, c}.largest(), most = (c - 1) * block;
  return {.messages = 2 * fold.rounds() + paired,
          .rounds = 2 * (fold.rounds() + paired),
          .sent = 2 * most + paired * n,
          .reduced = most + paired * n,
          .scratch = fold.even() ? c / 2 * block : n};
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Region sum = append_swing(plan, {problem.rank, problem.size}, plan.input(), plan.output());
  plan.copy(sum, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  if (problem.size == 1) return {.copied = problem.count};
  return problem.count == Count{0} ? Cost{} : cost_of_swing(problem.size, problem.count);
}

}  // namespace

extern const Algorithm allreduce_swing;
constinit const Algorithm allreduce_swing{
    .collective = Collective::allreduce,
    .name = "swing",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "halving and doubling with peers that stay near on a ring or torus: least volume, 2 log2 p rounds",
    .source = "De Sensi, Bonato, Saam & Hoefler, NSDI 2024",
};

}  // namespace tutti
