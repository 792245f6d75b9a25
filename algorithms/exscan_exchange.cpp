/// Exchanged exclusive scan: operands travel to the owners of their blocks as in Bruck's alltoall. Each owner combines
/// the first one, two, ... of its block, which travel back to the ranks that they are for.
/// Shapes   in[n] -> out[n], elements, none on rank 0; scratch about 2n, and what travels on
/// Cost     radix k: up to 2(k-1) ceil(log_k p) messages, 2 ceil(log_k p) rounds; where p divides n, twice
///          (k-1)/k n log_k p elements sent, n(p-2)/p reduced per rank, n/p copied. Not stated, but counted. Exact sums
///          take n p / 2 additions
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997
#include "phases_alltoall.hpp"
#include "phases_scan.hpp"

namespace tutti {
namespace {

/// Rank 0 receives nothing.
Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) return plan.build();
  Regions into;
  for (int rank = 0; rank < problem.size; ++rank)
    into.push_back(problem.rank == Rank{0} ? plan.output().first(Count{0}) : Blocks{plan.output(), problem.size}[rank]);
  append_exchanged_scan(plan, problem, into, 1);
  return plan.build();
}

}  // namespace

extern const Algorithm exscan_exchange;
constinit const Algorithm exscan_exchange{
    .collective = Collective::exscan,
    .name = "exchange",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .segments = Segments::of_elements,
    .build = build,
    .summary = "operands travel to the owner of their block, in few rounds, which combines them for all ranks",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
    .bits = Bits::fixed,
    .gathers = true,
};

}  // namespace tutti
