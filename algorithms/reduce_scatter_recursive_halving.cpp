/// Recursive halving reduce_scatter: in round k, ranks at distance 2^k exchange every second of the blocks they hold.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch 3p/4 blocks; unless p is a power of two, less than 2p
/// Cost     c = 2^floor(log2 p): log2 c messages and rounds, p-1 blocks sent and reduced per rank, if p = c the least
///          volumes that are possible; else the even rank of a pair sends p blocks, which the odd one reduces besides,
///          and there are 1 or 2 rounds more
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, blocks of any sizes
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005
#include <utility>

#include "folded_pattern.hpp"
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

/// Halves `held`, a region per position of the core, until one is left, this rank's. Returns its first `partners`
/// elements; the others go to the result.
Region append_halving(ScheduleBuilder& plan, const Folding& fold, Regions held, Region area, Region other,
                      Count partners, const Region& result) {
  for (int distance = 1; distance < fold.core(); distance *= 2) {
    const Rank peer = fold.across(distance);
    const std::size_t upper = (fold.position() & distance) != 0 ? 1 : 0;
    const Regions mine = every_second(held, upper), theirs = laid_out(mine, area);
    plan.send(every_second(held, 1 - upper), peer);
    plan.recv(theirs, peer);
    const bool last = mine.size() == 1;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      const Region sum = theirs[i].first(last ? partners : theirs[i].count);
      plan.reduce_in_order(peer, sum, mine[i].first(sum.count), sum);
    }
    if (last) plan.reduce_in_order(peer, rest(theirs[0], partners), rest(mine[0], partners), result);
    held = theirs;
    std::swap(area, other);
  }
  return held[0].first(partners);
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Folding fold{problem.rank, problem.size};
  if (problem.size == 1) plan.copy(plan.input(), plan.output());
  if (fold.sits_out()) {
    plan.send(plan.input(), fold.partner());
    plan.recv(plan.output(), fold.partner());
  }
  if (fold.sits_out() || problem.size == 1) return plan.build();
  const Blocks in = input_blocks(problem);
  const Region sums = plan.scratch(fold.paired() ? plan.input().count : Count{0});
  if (fold.paired()) {
    plan.recv(sums, fold.partner());
    plan.reduce(sums, plan.input(), sums);
  }
  Regions held = FoldedBlocks{fold, problem.size}.regions(in);
  if (fold.paired()) held = laid_out(held, sums);
  const Regions half = every_second(held, fold.position() % 2);
  const Region area = plan.scratch(total(half));
  const bool once = half.size() == 1;
  const Region other =
      fold.paired() ? sums : plan.scratch(once ? Count{0} : total(every_second(half, fold.position() / 2 % 2)));
  const Count before = fold.paired() ? in[fold.partner().value()].count : Count{0};
  const Region result = landing(plan, problem);
  const Region partners = append_halving(plan, fold, held, area, other, before, result);
  if (fold.paired()) plan.send(partners, fold.partner());
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Folding fold{problem.rank, p};
  const FoldedBlocks folded{fold, p};
  int reduced = fold.even() ? 0 : p;
  for (int positions = fold.core() / 2; positions >= 1; positions /= 2)
    reduced += folded.most_apart(positions);
  return {.messages = fold.rounds() + (fold.even() ? 0 : 1),
          .rounds = folded.longest_chain(fold),
          .sent = (fold.even() ? p - 1 : p) * n,
          .reduced = reduced * n,
          .scratch = (fold.even() ? p / 2 + p / 4 : p + folded.most_apart(fold.core() / 2)) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_recursive_halving;
constinit const Algorithm reduce_scatter_recursive_halving{
    .collective = Collective::reduce_scatter,
    .name = "recursive_halving",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "pairs exchange half of what they hold: least volume and fewest rounds if p is a power of two",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
    .bits = Bits::fixed,
};

}  // namespace tutti
