/// Neighbour exchange reduce_scatter, the mirror image of its allgather: neighbours to either side, in turn, hand each
/// other the sums of two blocks, to which they add, until pairs exchange the sums of their own blocks. If p is odd, the
/// last rank is folded onto the one before it.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch 4 blocks; if p is odd, p+4 on the rank before the last
/// Cost     p/2 messages and rounds, n(p-1) elements sent and reduced per rank, the least that are possible; if p is
///          odd, one message and round more, and the rank before the last reduces about twice as much
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes
/// Source   Chen, Zhang, Zhang & Yuan, HPC Asia 2005 (the allgather)
#include "algorithms/neighbour_pattern.hpp"
#include "algorithms/phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

void append_exchange(ScheduleBuilder& plan, const NeighbourPairs& pairs, const FoldedContribution& mine,
                     const Region& result) {
  const auto size_of = [&](NeighbourPairs::Range range) { return mine.in.span(range.first, range.last).count; };
  const auto [first, last] = pairs.own();
  Count sizes[] = {size_of({first, last}), Count{0}};  // of the slots that rounds receive into in turn
  for (int round = 1; round < pairs.rounds(); ++round)
    sizes[round % 2] = std::max(sizes[round % 2], size_of(pairs.received(round - 1)));
  const Region slots[] = {plan.scratch(sizes[0]), plan.scratch(sizes[1])};
  Regions sums = mine.to(pairs.received(pairs.rounds() - 1));
  for (int round = pairs.rounds() - 1; round > 0; --round) {
    const auto next = pairs.received(round - 1);
    const Regions theirs{slots[round % 2].first(size_of(next))};
    plan.send(sums, pairs.neighbour(round));
    plan.recv(theirs, pairs.neighbour(round));
    plan.reduce(theirs, mine.to(next), theirs);
    sums = theirs;
  }
  const auto sum_of = [&](NeighbourPairs::Range range) {
    return pairs.rounds() == 1 ? mine.to(range) : Regions{mine.within(slots[1], pairs.received(0).first, range)};
  };
  plan.send(sum_of(pairs.partners()), pairs.neighbour(0));
  plan.recv(slots[0].first(size_of({first, last})), pairs.neighbour(0));
  for (int block = last - 1; block >= first; --block) {  // its own comes last: the result may lie in the input
    const Region theirs = mine.within(slots[0], first, {block, block + 1});
    plan.reduce({theirs}, sum_of({block, block + 1}), {block == first ? result : theirs});
    if (block > first) plan.send(theirs, Rank{block});
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int p = problem.size;
  const NeighbourPairs pairs{problem.rank, p};
  const Blocks in = input_blocks(problem);
  if (p == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Region result = landing(plan, problem), others = in.span(0, p - 1);
  if (pairs.sits_out()) {
    const Region theirs = plan.scratch(in[p - 1].count);
    plan.send(others, Rank{p - 2});
    plan.recv(theirs, Rank{p - 2});
    plan.reduce(theirs, in[p - 1], result);
  } else {
    const bool folds = pairs.stands_for_last();
    const FoldedContribution mine{in, plan.scratch(folds ? others.count : Count{0}), folds ? p - 1 : 0};
    if (folds) {
      plan.recv(mine.folded, Rank{p - 1});
      plan.reduce(mine.folded, others, mine.folded);
    }
    append_exchange(plan, pairs, mine, result);
  }
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size, odd = p % 2;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const int exchanged = p <= 3 ? p - 1 : std::min(p - 1, 4) + odd;  // blocks received into the slots
  return {.messages = p / 2 + odd,
          .rounds = p / 2 + odd,
          .sent = (p - 1) * n,
          .reduced = (p - 1 + odd * (p == 3 ? 2 : p)) * n,
          .scratch = (exchanged + odd * (p - 1)) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_neighbour_exchange;
constinit const Algorithm reduce_scatter_neighbour_exchange{
    .collective = Collective::reduce_scatter,
    .name = "neighbour_exchange",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "neighbours hand on sums of two blocks in turn to either side: p/2 rounds, neighbours only",
    .source = "Chen, Zhang, Zhang & Yuan, HPC Asia 2005",
};

}  // namespace tutti
