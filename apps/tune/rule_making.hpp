#pragma once
// The rules that follow from what was measured.

#include <span>
#include <string>
#include <vector>

#include "apps/bench/machine.hpp"
#include "apps/tune/race.hpp"
#include "lib/core/selection/rules.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tune {

struct RuleForm {
  bool is_exact = false;   ///< For these numbers of ranks and nodes alone; else up to half as many more.
  bool has_modes = false;  ///< Several modes were measured: rules name theirs.
  std::int64_t most = 0;   ///< The largest size measured; for more than twice as much there are no rules.
};

/// The rules of one context, by size: a row of sizes with the same choice is a rule. Where the built-in rules stay, the
/// rule names their choice, with its time. Where ranks know only their own blocks, one rule holds for all sizes.
[[nodiscard]] std::vector<Rule> rules_of(const Question& question, std::span<const Point> points, const RuleForm& form);

/// The version of this library, as files name it.
[[nodiscard]] std::string own_version();
/// A file for this machine, without rules yet. `is_of_devices`: it is about memory of its GPU.
[[nodiscard]] RuleFile file_for(const SiteFacts& site, const bench::Machine& machine, bool is_of_devices);
/// The file without the rules, of an older run, that newer ones hide.
[[nodiscard]] RuleFile without_hidden_rules(RuleFile file);

/// The rules that take another algorithm than the built-in ones.
[[nodiscard]] int changes_in(std::span<const Point> points);
/// The geometric mean of the built-in choice's time over that of the choice, over all points.
[[nodiscard]] double gain_of(std::span<const Point> points);

}  // namespace tutti::tune
