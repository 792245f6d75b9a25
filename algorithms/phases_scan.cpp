#include "phases_scan.hpp"

#include "phases_nodes.hpp"

namespace tutti {

void append_carry(ScheduleBuilder& plan, const Nodes& rows, const Region& total, const Region& carry, int chain) {
  const Group& row = rows.mine();
  const int last = row.size() - 1;
  Group lasts{{}, row.me == last ? rows.own() : -1};
  for (int each = 0; each < rows.count(); ++each)
    lasts.ranks.push_back(rows.at(each).ranks.back());
  const auto scan = rows.count() <= chain ? append_linear_exscan : append_exscan_123;
  if (row.me == last) plan.within(lasts, [&](Rank me, int size) { scan(plan, me, size, total, carry); });
  if (rows.own() > 0) append_group_broadcast(plan, {row, last}, carry, carry);
}

Cost carry_bounds(const Nodes& rows, Count count, int chain) {
  const TreeBounds inside{rows.lanes(), node_radix};
  const bool is_chain = rows.count() <= chain;
  const int across = rows.count() == 1 ? 0 : is_chain ? 1 : 2 + doublings_below(rows.count());
  return {.messages = across + inside.children,
          .rounds = (is_chain ? rows.count() - 1 : across) + (rows.count() > 1 ? inside.depth : 0),
          .sent = (across + inside.children) * count,
          .reduced = (across + 1) * count,
          .scratch = 2 * count};
}

}  // namespace tutti
