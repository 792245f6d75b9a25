/// Recursive doubling exclusive scan: in round k, each rank sends the sum of the last 2^k ranks, itself included, to
/// the rank 2^k ahead, and keeps the one without itself.
/// Shapes   in[n] -> out[n], elements, none on rank 0; scratch 2n
/// Cost     ceil(log2 p) messages, floor(log2 p) rounds; n elements sent per message; about 2 n log2 p reduced
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   "two-(+) doubling" of Traeff, arXiv:2507.04785
#include <algorithm>

#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int rank = problem.rank.value(), size = problem.size;
  const Region sum = plan.scratch(size > 2 ? problem.count : Count{0}), theirs = plan.scratch(sum.count);
  const Region before = rank > 0 ? exclusive_result(plan, problem) : plan.output();
  Region with_mine = plan.input();
  for (int distance = 1; distance < size; distance *= 2) {
    if (rank + distance < size) plan.send(with_mine, Rank{rank + distance});
    if (rank < distance) continue;  // nobody is that far behind: all that came before is in
    if (distance == 1) {
      plan.recv(before, Rank{rank - distance});
    } else {
      plan.recv(theirs, Rank{rank - distance});
      plan.reduce(theirs, before, before);
    }
    if (rank + 2 * distance >= size) continue;  // nobody further ahead
    plan.reduce(before, plan.input(), sum);
    with_mine = sum;
  }
  if (rank > 0) plan.copy(before, plan.output());
  return plan.build();
}

/// The reductions of the busiest rank: of those that receive k messages, the lowest sends the most, 2^(k-1).
int reductions(int size) {
  int most = 0;
  for (int received = 1, rank = 1; rank < size; ++received, rank *= 2)
    most = std::max(most, received - 1 + std::min(received, std::max(0, doublings_below(size - rank) - 1)));
  return most;
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1 || n == Count{0}) return {};
  const int messages = doublings_below(problem.size);
  return {.messages = messages,
          .rounds = doublings_within(problem.size),
          .sent = messages * n,
          .reduced = reductions(problem.size) * n,
          .scratch = problem.size > 2 ? 2 * n : Count{0}};
}

}  // namespace

extern const Algorithm exscan_recursive_doubling;
constinit const Algorithm exscan_recursive_doubling{
    .collective = Collective::exscan,
    .name = "recursive_doubling",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "sums of 1, 2, 4, ... ranks are passed ahead as far; two reductions a round",
    .source = "\"two-(+) doubling\" of Traeff, arXiv:2507.04785",
};

}  // namespace tutti
