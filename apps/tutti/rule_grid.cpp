#include "apps/tutti/rule_grid.hpp"

#include <set>

namespace tutti::tool {
namespace {

void add_borders(const Range& range, std::int64_t most, std::set<std::int64_t>& borders) {
  if (range.least > 1 && range.least <= most) borders.insert(range.least);
  if (range.most < most) borders.insert(range.most + 1);
}

std::vector<Range> ranges_between(const std::set<std::int64_t>& borders) {
  std::vector<Range> ranges;
  for (const std::int64_t border : borders) {
    if (border < 1) continue;
    if (!ranges.empty()) ranges.back().most = border - 1;
    ranges.push_back({border, Range::no_end});
  }
  return ranges;
}

}  // namespace

std::vector<Range> rank_ranges(Collective collective, const std::vector<const RuleTable*>& tables, std::int64_t most) {
  std::set<std::int64_t> borders{1};
  for (const RuleTable* const table : tables)
    for (const Rule& rule : table->of(collective))
      add_borders(rule.when.ranks, most, borders);
  return ranges_between(borders);
}

std::vector<Range> node_ranges(Collective collective, const std::vector<const RuleTable*>& tables, std::int64_t ranks) {
  std::set<std::int64_t> borders{1};
  if (ranks > 1) borders.insert(2);  // where not all ranks share memory
  for (const RuleTable* const table : tables)
    for (const Rule& rule : table->of(collective)) {
      add_borders(rule.when.nodes, ranks, borders);
      for (const std::int64_t ppn : {rule.when.ppn.least, rule.when.ppn.most, rule.when.ppn.least - 1})
        if (ppn > 0 && ppn < ranks) add_borders({(ranks + ppn - 1) / ppn, Range::no_end}, ranks, borders);
    }
  return ranges_between(borders);
}

}  // namespace tutti::tool
