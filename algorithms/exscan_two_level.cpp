/// Two-level exclusive scan: inside nodes along distances 1, 2, 3, 6, ...; then the last rank of each learns the sum of
/// all nodes before, and hands it to its node. Where a node's ranks are not consecutive, every row of consecutive ranks
/// counts as one.
/// Shapes   in[n] -> out[n], elements, none on rank 0; scratch up to 7 n
/// Cost     h rows, m ranks in the longest: about log2 m + h-1 + log_8 m rounds if h <= chain, else about log2 h for
///          h-1; with a chain every row sends n to others, and receives n, the least that is possible
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any spread over nodes
/// Source   Kielmann et al., PPoPP 1999 (MagPIe); the distances: Traeff, arXiv:2507.04785
#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Nodes rows = Nodes::rows(problem);
  const Group& row = rows.mine();
  const bool first = row.me == 0, last = row.me == row.size() - 1, has_carry = rows.own() > 0;
  const Region before = first ? plan.output() : exclusive_result(plan, problem);
  plan.within(row, [&](Rank me, int size) { append_exscan_123(plan, me, size, plan.input(), before); });
  if (rows.count() > 1) {
    Region total = plan.input();
    if (last && !first && rows.own() + 1 < rows.count()) {
      total = plan.scratch(problem.count);
      plan.reduce(before, plan.input(), total);
    }
    const Region carry = has_carry ? plan.scratch(problem.count) : total;
    append_carry(plan, rows, total, carry, problem.parameter);
    if (has_carry && first) plan.copy(carry, plan.output());
    if (has_carry && !first) plan.reduce(carry, before, plan.output());
  }
  if (!has_carry && !first) plan.copy(before, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Nodes rows = Nodes::rows(problem);
  Cost cost = cost_over_rows(problem, rows, exscan_123_rounds(rows.lanes()), [&](int row, int place) {
    const int size = rows.at(row).size();
    const bool first = place == 0, has_total = !first && place + 1 == size && row + 1 < rows.count();
    RowLoad load = exscan_123_load(place, size);
    if (has_total) load += {.reductions = 1, .scratch = 1};
    if (row > 0 && !first) ++load.reductions;  // the carry
    return load;
  });
  if (rows.count() > 1) cost.copied = problem.count;
  return cost;
}

}  // namespace

extern const Algorithm exscan_two_level;
constinit const Algorithm exscan_two_level{
    .collective = Collective::exscan,
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
