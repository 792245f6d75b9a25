/// Two-level scan: inside nodes by doubling; then the last rank of each learns the sum of all nodes before, and hands
/// it to its node. Where a node's ranks are not consecutive, every row of consecutive ranks counts as one.
/// Shapes   in[n] -> out[n], elements; scratch up to 4 n
/// Cost     h rows, m ranks in the longest: ceil(log2 m) + h-1 + ceil(log_8 m) rounds if h <= chain, else about log2 h
///          for h-1; with a chain every row sends n to others, and receives n, the least that is possible
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe); the distances: Traeff, arXiv:2507.04785
#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes rows = Nodes::rows(problem);
  Region sum = plan.input();
  plan.within(rows.mine(),
              [&](Rank me, int size) { sum = append_doubling_scan(plan, me, size, plan.input(), plan.output()); });
  const bool has_carry = rows.own() > 0;
  const Region carry = plan.scratch(has_carry ? problem.count : Count{0});
  if (rows.count() > 1) append_carry(plan, rows, sum, has_carry ? carry : sum, problem.parameter);
  if (has_carry)
    plan.reduce(carry, sum, plan.output());
  else
    plan.copy(sum, plan.output());  // only rank 0 still has its result in the input
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Nodes rows = Nodes::rows(problem);
  Cost cost = cost_over_rows(problem, rows, doublings_within(rows.lanes()), [&](int row, int place) {
    RowLoad load = doubling_scan_load(place, rows.at(row).size());
    if (row > 0) ++load.reductions;  // the carry
    return load;
  });
  cost.copied = problem.count;
  return cost;
}

}  // namespace

extern const Algorithm scan_two_level;
constinit const Algorithm scan_two_level{
    .collective = Collective::scan,
    .name = "two_level",
    .order = Order::of_ranks,
    .levels = Levels::nodes,
    .parameter = {.name = "chain", .fallback = 8, .least = 1},
    .build = build,
    .cost = cost,
    .summary = "inside nodes, then over their last ranks, by a chain if there are few: everything crosses once",
    .source = "Kielmann et al., PPoPP 1999 (MagPIe)",
};

}  // namespace tutti
