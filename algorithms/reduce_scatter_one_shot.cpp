/// One-shot reduce_scatter: all ranks send each block straight to its owner, which combines them in the order of ranks.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch p-1 blocks
/// Cost     1 round of p-1 messages; n(p-1) elements sent and reduced per rank, the least that are possible
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, blocks of any sizes
/// Source   folklore
#include <vector>

#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

Region landing(ScheduleBuilder& plan, const Problem& problem) {
  const Region output = plan.output(), own = input_blocks(problem)[problem.rank.value()];
  const Region at = problem.aliasing.located(own);
  const bool covered_in_part =
      at.buffer == Buffer::output && at != output && at.offset < output.count && at.offset + at.count > Count{0};
  return covered_in_part ? plan.scratch(output.count) : output;
}

void append_reduction(ScheduleBuilder& plan, const std::vector<Region>& operands, const Region& mine,
                      const Region& into) {
  Region sum = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const bool last = i == operands.size() - 1;
    const Region next = last ? into : sum == mine ? operands[i] : sum;
    plan.reduce(sum, operands[i], next);
    sum = next;
  }
}

void append_one_shot_reduce_scatter(ScheduleBuilder& plan, const Ring& ring, const Blocks& from, const Region& result) {
  const Region mine = from[ring.behind(0)], theirs = plan.scratch((ring.size() - 1) * mine.count);
  std::vector<Region> operands(static_cast<std::size_t>(ring.size()), mine);
  for (int round = 1; round < ring.size(); ++round) {
    const int owner = ring.behind(-round), peer = ring.behind(round);
    Region& operand = operands[static_cast<std::size_t>(peer)];
    operand = Region{theirs.buffer, theirs.offset + (round - 1) * mine.count, mine.count};
    plan.send(from[owner], Rank{owner});
    plan.recv(operand, Rank{peer});
  }
  append_reduction(plan, operands, mine, result);
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Region result = landing(plan, problem);
  append_one_shot_reduce_scatter(plan, {problem.rank, problem.size}, input_blocks(problem), result);
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, others = (p - 1) * n;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = p - 1, .rounds = 1, .sent = others, .reduced = others, .scratch = others};
}

}  // namespace

extern const Algorithm reduce_scatter_one_shot;
constinit const Algorithm reduce_scatter_one_shot{
    .collective = Collective::reduce_scatter,
    .name = "one_shot",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "every block straight to its owner: one round, least volume, p-1 messages at once",
    .source = "folklore",
    .gathers = true,
};

}  // namespace tutti
