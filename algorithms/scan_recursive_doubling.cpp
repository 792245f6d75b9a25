/// Recursive doubling scan: in round k, each rank sends the sum of the last 2^k ranks, itself included, to the rank 2^k
/// ahead.
/// Shapes   in[n] -> out[n], elements; scratch n
/// Cost     ceil(log2 p) messages, floor(log2 p) rounds; n elements sent and reduced per message; rank 0 copies n
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Hillis & Steele, CACM 29(12), 1986
#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
Region append_doubling_scan(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& into) {
  const int rank = me.value();
  const Region before = plan.scratch(rank > 0 ? input.count : Count{0});
  Region sum = input;
  for (int distance = 1; distance < size; distance *= 2) {
    const bool sends = rank + distance < size, receives = rank >= distance;
    if (sends) plan.send(sum, Rank{rank + distance});
    if (!receives) continue;
    plan.recv(before, Rank{rank - distance});
    plan.reduce(before, sum, into);
    sum = into;
  }
  return sum;
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Region sum = append_doubling_scan(plan, problem.rank, problem.size, plan.input(), plan.output());
  plan.copy(sum, plan.output());  // only rank 0 still has its result in the input
  return plan.build();
}

/// A chain of messages at distances 1, 2, 4, ... must end within the group, so it may lack the last.
Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const int messages = doublings_below(problem.size);
  return {.messages = messages,
          .rounds = doublings_within(problem.size),
          .sent = messages * n,
          .reduced = messages * n,
          .copied = n,
          .scratch = n};
}

}  // namespace

extern const Algorithm scan_recursive_doubling;
constinit const Algorithm scan_recursive_doubling{
    .collective = Collective::scan,
    .name = "recursive_doubling",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "sums of 1, 2, 4, ... ranks are passed ahead as far: fewest rounds, for small counts",
    .source = "Hillis & Steele, CACM 29(12), 1986",
};

}  // namespace tutti
