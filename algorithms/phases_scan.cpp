#include "phases_scan.hpp"

#include <algorithm>

#include "phases_costs.hpp"
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

RowLoad doubling_scan_load(int place, int size) {
  return {doublings_below(size - place), doublings_below(place + 1), place > 0 ? 1 : 0};
}

RowLoad exscan_123_load(int place, int size) {
  RowLoad load{.scratch = size > 2 ? 2 : 0};
  for (int distance = 1; distance < size; distance = next_distance_123(distance)) {
    const bool sends = place + distance < size && (place > 0 || distance < 3);
    if (sends) ++load.messages;
    if (sends && distance == 2 && place > 0) ++load.reductions;
    if (distance > 1 && place >= distance + (distance > 2 ? 1 : 0)) ++load.reductions;
  }
  return load;
}

int exscan_123_rounds(int size) {
  if (size <= 2) return size - 1;
  return 1 + std::min(1, size / 4) + triples_below(size / 2 + size % 2);
}

namespace {

RowLoad linear_exscan_load(int place, int size) {
  const bool sends = place + 1 < size, adds = sends && place > 0;
  return {sends ? 1 : 0, adds ? 1 : 0, adds ? 1 : 0};
}

/// The load of a rank inside its row, with that of the carry added.
RowLoad with_carry(RowLoad load, const Nodes& rows, int row, int place, int chain) {
  const int size = rows.at(row).size(), last = size - 1;
  if (place == last)
    load += rows.count() <= chain ? linear_exscan_load(row, rows.count()) : exscan_123_load(row, rows.count());
  if (row == 0) return load;
  const SplitTree tree{Rank{place}, size, Rank{last}, node_radix};
  for (const auto& level : tree.levels())
    load.messages += static_cast<int>(level.size());
  ++load.scratch;
  return load;
}

}  // namespace

Cost cost_over_rows(const Problem& problem, const Nodes& rows, int rounds, const LoadInRow& inside) {
  RowLoad most;
  int depth = 0;  // depth of the trees in rows that get a carry
  for (int row = 0; row < rows.count(); ++row) {
    const int size = rows.at(row).size();
    if (row > 0) depth = std::max(depth, group_shape(size, size - 1, node_radix).depth);
    for (int place = 0; place < size; ++place) {
      const RowLoad load = with_carry(inside(row, place), rows, row, place, problem.parameter);
      most.messages = std::max(most.messages, load.messages);
      most.reductions = std::max(most.reductions, load.reductions);
      most.scratch = std::max(most.scratch, load.scratch);
    }
  }
  const int across = rows.count() <= problem.parameter ? rows.count() - 1 : exscan_123_rounds(rows.count());
  const Count n = problem.count;
  return {.messages = most.messages,
          .rounds = rounds + across + depth,
          .sent = most.messages * n,
          .reduced = most.reductions * n,
          .scratch = most.scratch * n};
}

}  // namespace tutti
