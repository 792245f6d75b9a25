/// Dissemination barrier: in round i, signals to the ranks at distances k^i, 2 k^i, ..., (k-1) k^i, k the radix.
/// Shapes   no data, no scratch
/// Cost     ceil(log_k p) rounds of k-1 signals per rank, fewer in the last if p is no power of k
/// Needs    any p >= 1
/// Source   Hensgen, Finkel & Manber, International Journal of Parallel Programming 17(1), 1988 (k = 2)
#include "dissemination_pattern.hpp"
#include "phases.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

void append_dissemination(ScheduleBuilder& plan, Rank me, int size, int radix) {
  for (const DisseminationRound& round : dissemination(me, size, radix)) {
    for (const Rank peer : round.to)
      plan.signal(peer);
    for (const Rank peer : round.from)
      plan.await(peer);
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  append_dissemination(plan, problem.rank, problem.size, problem.parameter);
  return plan.build();
}

Cost cost(const Problem& problem) { return dissemination_cost(problem.size, problem.parameter); }

}  // namespace

extern const Algorithm barrier_dissemination;
constinit const Algorithm barrier_dissemination{
    .collective = Collective::barrier,
    .name = "dissemination",
    .order = Order::any,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .summary = "signals at distances 1, 2, 4, ... (or by a higher radix): fewest rounds for any number of ranks",
    .source = "Hensgen, Finkel & Manber, International Journal of Parallel Programming 17(1), 1988",
};

}  // namespace tutti
