/// Recursive multiplying allreduce: in round k, the `radix` ranks at multiples of radix^k exchange all and reduce it.
/// Shapes   in[n] -> out[n], elements; scratch (radix-1) n
/// Cost     c = m radix^a, the largest that is not above p, m < radix: a rounds of radix-1 messages, one of m-1 if
///          m > 1; n elements sent and reduced per message; unless p = c, 1 or 2 rounds and 1 message more
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Ruefenacht, Bull & Booth, Parallel Computing 69, 2017
#include <vector>

#include "algorithms/multiplying_pattern.hpp"
#include "algorithms/phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
Region append_recursive_multiplying(ScheduleBuilder& plan, const Multiplying& fold, const Region& input,
                                    const Region& into) {
  if (fold.sits_out()) {
    plan.send(input, fold.partner());
    plan.recv(into, fold.partner());
    return into;
  }
  std::vector<Region> spare;
  for (int i = 1; i < fold.largest_radix(); ++i)
    spare.push_back(plan.scratch(into.count));
  Region mine = input;
  if (fold.paired()) {
    plan.recv(spare[0], fold.partner());
    plan.reduce(spare[0], mine, into);
    mine = into;
  }
  for (const Group& group : fold.groups()) {
    std::vector<Region> operands(group.ranks.size(), mine);
    const Ring ring{Rank{group.me}, group.size()};
    for (int round = 1; round < group.size(); ++round) {
      const int to = ring.behind(-round), from = ring.behind(round);
      plan.send(mine, group.at(to));
      plan.recv(spare[static_cast<std::size_t>(round - 1)], group.at(from));
      operands[static_cast<std::size_t>(from)] = spare[static_cast<std::size_t>(round - 1)];
    }
    append_reduction(plan, operands, mine, into);
    mine = into;
  }
  if (fold.paired()) plan.send(mine, fold.partner());
  return mine;
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Multiplying fold{problem.rank, problem.size, problem.parameter};
  const Region sum = append_recursive_multiplying(plan, fold, plan.input(), plan.output());
  plan.copy(sum, plan.output());  // only a rank alone still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Multiplying fold{problem.rank, problem.size, problem.parameter};
  return {.messages = fold.messages(),
          .rounds = fold.longest_chain(),
          .sent = fold.messages() * n,
          .reduced = fold.messages() * n,
          .scratch = (fold.largest_radix() - 1) * n};
}

}  // namespace

extern const Algorithm allreduce_recursive_multiplying;
constinit const Algorithm allreduce_recursive_multiplying{
    .collective = Collective::allreduce,
    .name = "recursive_multiplying",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 4, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "groups of `radix` ranks exchange everything: fewer rounds than doubling, for small counts",
    .source = "Ruefenacht, Bull & Booth, Parallel Computing 69, 2017",
};

}  // namespace tutti
