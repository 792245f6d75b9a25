#include "lib/core/selection/selection.hpp"

#include <algorithm>
#include <set>

#include "lib/core/selection/rule_file.hpp"

namespace tutti {
namespace {

/// Adds the sizes at which a condition begins or ceases to hold, where `parts` have equal shares.
void add_borders(const Range& range, int parts, std::set<std::int64_t>& borders) {
  if (range.least > 0 && range.least < Range::no_end / parts) borders.insert(range.least * parts);
  if (range.most < Range::no_end / parts) borders.insert(range.most * parts + 1);
}

}  // namespace

std::set<std::int64_t> borders_of(const RuleTable& rules, const Question& question) {
  std::set<std::int64_t> borders{0};
  for (const Rule& rule : rules.of(question.collective)) {
    add_borders(rule.when.bytes, 1, borders);
    add_borders(rule.when.bytes_per_rank, question.ranks, borders);
    add_borders(rule.when.bytes_per_node, question.nodes, borders);
    add_borders({0, rule.most_bytes}, 1, borders);
  }
  return borders;
}

Selection select(const Question& question, const UserChoices& users, const RuleTable* site) {
  const Choice& wanted = users.choices[static_cast<std::size_t>(question.collective)];
  if (const auto served = wanted.algorithm != nullptr ? serving(wanted, question) : std::nullopt)
    return {*served, users.chosen_by[static_cast<std::size_t>(question.collective)], true};
  if (const Rule* const rule = site != nullptr ? site->first_for(question) : nullptr)
    return {*serving(rule->choice, question), rule->why, true, rule};
  const Rule& rule = *builtin_rules().first_for(question);  // the last rule of each collective fits everything
  return {rule.choice, rule.why, false, &rule};
}

std::vector<SelectionFrom> select_by_size(Question question, const UserChoices& users, const RuleTable* site) {
  std::set<std::int64_t> borders = borders_of(builtin_rules(), question);
  if (site != nullptr) borders.merge(borders_of(*site, question));
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  std::vector<SelectionFrom> found;
  for (const std::int64_t bytes : borders) {
    if (bytes > most_bytes) break;
    question.bytes = Bytes{bytes};
    const Selection selection = select(question, users, site);
    const bool is_as_before = !found.empty() && found.back().selection.choice == selection.choice &&
                              found.back().selection.why == selection.why;
    if (!is_as_before) found.push_back({Bytes{bytes}, selection});
    if (question.collective == Collective::barrier) break;  // has no bytes
  }
  return found;
}

}  // namespace tutti
