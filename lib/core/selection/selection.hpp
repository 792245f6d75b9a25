#pragma once
// Which algorithm runs when the user does not say.

#include <cstdint>
#include <set>
#include <vector>

#include "lib/core/selection/choices.hpp"
#include "lib/core/selection/rules.hpp"

namespace tutti {

/// The user's choice for the collective, if that serves: it may need a commutative operation, and a file is for some
/// calls; else that of the first rule of the site (nullptr: it has none) that fits and serves; else that of the first
/// built-in rule. A pure function. What the selection refers to lives as long as the rules and the user's choices.
[[nodiscard]] Selection select(const Question& question, const UserChoices& users, const RuleTable* site);

/// 0, and all sizes at which another one of the rules may come to fit: between two of them nothing changes.
[[nodiscard]] std::set<std::int64_t> borders_of(const RuleTable& rules, const Question& question);

/// The selection from so many bytes on, up to those of the next.
struct SelectionFrom {
  Bytes bytes;
  Selection selection;
};
/// What select() gives for 0 bytes to 1 TiB, whatever bytes the question has: one for each change of the
/// choice, or of its reason.
[[nodiscard]] std::vector<SelectionFrom> select_by_size(Question question, const UserChoices& users,
                                                        const RuleTable* site);

}  // namespace tutti
