/// One-shot allgather: everybody sends its block to all others at once.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     1 round of p-1 messages; n(p-1) elements sent per rank, the least that is possible
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   folklore
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_one_shot_allgather(ScheduleBuilder& plan, const Ring& ring, const Region& own, const Blocks& blocks) {
  for (int round = 1; round < ring.size(); ++round) {
    plan.send(own, Rank{ring.behind(-round)});
    plan.recv(blocks[ring.behind(round)], Rank{ring.behind(round)});
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Blocks out = output_blocks(problem);
  plan.copy(plan.input(), out[problem.rank.value()]);
  append_one_shot_allgather(plan, {problem.rank, problem.size}, plan.input(), out);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (n == Count{0}) return {};
  return {.messages = p - 1, .rounds = p > 1 ? 1 : 0, .sent = (p - 1) * n, .copied = n};
}

}  // namespace

extern const Algorithm allgather_one_shot;
constinit const Algorithm allgather_one_shot{
    .collective = Collective::allgather,
    .name = "one_shot",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "every block to all others at once: one round, least volume, p-1 messages",
    .source = "folklore",
};

}  // namespace tutti
