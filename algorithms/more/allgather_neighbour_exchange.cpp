/// Neighbour exchange allgather: neighbours exchange their blocks, then go on with the neighbours to the other side, in
/// turn, and exchange the two blocks that came last. If p is odd, the last rank is folded onto the one before it.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     p/2 messages and rounds, n(p-1) elements sent per rank, the least that is possible; if p is odd, one
///          message and round more, and the rank before the last sends about twice as much
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   Chen, Zhang, Zhang & Yuan, HPC Asia 2005
#include "algorithms/folded_pattern.hpp"
#include "algorithms/neighbour_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int p = problem.size, own = problem.rank.value();
  const NeighbourPairs pairs{problem.rank, p};
  const Blocks out = output_blocks(problem);
  plan.copy(plan.input(), out[own]);
  if (p == 1) return plan.build();
  const Rank last{p - 1};
  if (pairs.sits_out()) {
    plan.send(plan.input(), Rank{p - 2});
    plan.recv(others(out, own), Rank{p - 2});
    return plan.build();
  }
  if (pairs.stands_for_last()) plan.recv(out[p - 1], last);
  const auto mine = pairs.own(), theirs = pairs.partners();
  plan.send(pairs.stands_for_last() ? out.list(mine.first, mine.last) : Regions{plan.input()}, pairs.neighbour(0));
  plan.recv(out.list(theirs.first, theirs.last), pairs.neighbour(0));
  for (int round = 1; round < pairs.rounds(); ++round) {
    const auto given = pairs.received(round - 1), taken = pairs.received(round);
    plan.send(out.list(given.first, given.last), pairs.neighbour(round));
    plan.recv(out.list(taken.first, taken.last), pairs.neighbour(round));
  }
  if (pairs.stands_for_last()) plan.send(others(out, p - 1), last);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size, odd = p % 2;
  const Count n = problem.count;
  if (n == Count{0}) return {};
  if (p == 1) return {.copied = n};
  const int twice = odd == 0 ? 0 : p == 3 ? 2 : p;  // blocks that the rank before the last sends in addition
  return {.messages = p / 2 + odd, .rounds = p / 2 + odd, .sent = (p - 1 + twice) * n, .copied = n};
}

}  // namespace

extern const Algorithm allgather_neighbour_exchange;
constinit const Algorithm allgather_neighbour_exchange{
    .collective = Collective::allgather,
    .name = "neighbour_exchange",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "neighbours exchange in turn to either side: p/2 rounds, neighbours only",
    .source = "Chen, Zhang, Zhang & Yuan, HPC Asia 2005",
};

}  // namespace tutti
