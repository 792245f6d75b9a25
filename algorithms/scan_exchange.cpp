/// Exchanged scan: operands travel to the owners of their blocks as in Bruck's alltoall. Each owner combines the first
/// one, two, ... of its block, which travel back to the ranks that they are for.
/// Shapes   in[n] -> out[n], elements; scratch about 2n, and what travels on
/// Cost     radix k: up to 2(k-1) ceil(log_k p) messages, 2 ceil(log_k p) rounds; where p divides n, twice
///          (k-1)/k n log_k p elements sent, n(p-1)/p reduced per rank; rank 0 copies n. Exact sums take n p / 2
///          additions
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997
#include "phases_alltoall.hpp"
#include "phases_scan.hpp"

namespace tutti {

void append_exchanged_scan(ScheduleBuilder& plan, const Problem& problem, const Regions& into, int later) {
  const int p = problem.size, me = problem.rank.value();
  const Blocks in{plan.input(), p};
  const DigitRoutes routes{problem.rank, p, problem.parameter};
  const Regions operands = append_operand_exchange(plan, problem.rank, routes, in, p - later);
  Regions sums{operands[0]};  // by rank: the sum up to it, of this rank's block
  for (int rank = 1; rank + later < p; ++rank) {
    sums.push_back(plan.scratch(in[me].count));
    plan.reduce(sums[sums.size() - 2], operands[static_cast<std::size_t>(rank)], sums.back());
  }
  Regions results(static_cast<std::size_t>(p), Region{Buffer::scratch, Count{0}, Count{0}});  // none for rank 0
  for (int rank = 1; rank < p; ++rank)
    results[static_cast<std::size_t>(rank)] = sums[static_cast<std::size_t>(rank - later)];
  append_block_exchange(plan, problem.rank, routes, results, into,
                        [&](int from, int to) { return to == 0 ? Count{0} : in[from].count; });
  plan.copy(results[static_cast<std::size_t>(me)], into[static_cast<std::size_t>(me)]);
}

namespace {

/// Rank 0 receives nothing.
Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  Regions into;
  for (int rank = 0; rank < problem.size; ++rank)
    into.push_back(problem.rank == Rank{0} ? plan.output().first(Count{0}) : Blocks{plan.output(), problem.size}[rank]);
  if (problem.size > 1) append_exchanged_scan(plan, problem, into, 0);
  if (problem.rank == Rank{0}) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  if (problem.size == 1) return {.copied = problem.count};
  if (problem.count == Count{0}) return {};
  const int p = problem.size;
  const Count block = Blocks{{Buffer::input, Count{0}, problem.count}, p}.largest();
  Cost cost = exchanged_reduce_scatter_cost(p, problem.parameter, block);
  cost.messages *= 2;
  cost.rounds *= 2;
  cost.sent = 2 * cost.sent;
  cost.copied = problem.count;
  cost.scratch = 2 * cost.scratch;
  return cost;
}

}  // namespace

extern const Algorithm scan_exchange;
constinit const Algorithm scan_exchange{
    .collective = Collective::scan,
    .name = "exchange",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .segments = Segments::of_elements,
    .build = build,
    .cost = cost,
    .summary = "operands travel to the owner of their block, in few rounds, which combines them for all ranks",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
    .bits = Bits::fixed,
    .gathers = true,
};

}  // namespace tutti
