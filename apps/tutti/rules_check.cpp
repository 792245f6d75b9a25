// tutti rules check: what is wrong with files of rules.
#include <fmt/format.h>

#include <algorithm>

#include "apps/standard_output.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/rules_commands.hpp"
#include "apps/tutti/site.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

constexpr int exit_warnings = 1;

/// Why no call can be served by a rule that names a file.
std::string why_useless_file(const Rule& rule) {
  try {
    const auto file = proved_file(*rule.choice.algorithm);
    const int ranks = file->file().ranks;
    return rule.when.ranks.contains(ranks) ? "" : fmt::format("{} is for {} ranks", file->file().path, ranks);
  } catch (const apps::InputError& error) {
    return fmt::format("every communicator that it may be for is refused: {}", error.what());
  }
}

/// Why no call can be served by the rule; empty: there are some.
std::string why_useless(const Rule& rule) {
  const Algorithm& algorithm = *rule.choice.algorithm;
  if (is_named_file(algorithm)) return why_useless_file(rule);
  const bool needs_commutative =
      algorithm.order == Order::any || (algorithm.order == Order::of_nodes && rule.when.consecutive == false);
  if (reduces(rule.collective) && rule.when.commutative == false && needs_commutative)
    return fmt::format("{} needs commutative operations, and the rule is for others", algorithm.name);
  const std::int64_t segment = rule.choice.segment;
  if (segment > 0 && segment < Range::no_end / most_segments && rule.when.bytes.least > segment * most_segments)
    return fmt::format("segments of {} bytes would be more than {} from {} bytes on", segment, most_segments,
                       rule.when.bytes.least);
  if (rule.when.nodes.least > rule.when.ranks.most)
    return fmt::format("{} ranks cannot be on {} nodes", range_text(rule.when.ranks), range_text(rule.when.nodes));
  if (rule.when.shares_memory == true && rule.when.nodes.least > 1) return "ranks of several nodes do not share memory";
  return "";
}

/// Whether all but one of their conditions are the same, and the ranges of that one cross: neither contains the other.
bool cross(const Conditions& a, const Conditions& b) {
  constexpr Range Conditions::*ranges[] = {
      &Conditions::ranks, &Conditions::nodes,          &Conditions::ppn,
      &Conditions::bytes, &Conditions::bytes_per_rank, &Conditions::bytes_per_node};
  for (Range Conditions::*const range : ranges) {
    const Range &one = a.*range, &other = b.*range;
    if (one == other) continue;
    Conditions as_b = a;
    as_b.*range = other;
    return as_b == b && one.least <= other.most && other.least <= one.most && !one.contains(other) &&
           !other.contains(one);
  }
  return false;
}

/// Notes rules whose ranges cross those of an earlier one, as those of neighbours do where a border is wrong. A rule
/// for many calls behind one for few of them is as it should be.
void add_overlaps(const RuleFile& file, std::vector<RuleWarning>& warnings) {
  for (std::size_t i = 0; i < file.rules.size(); ++i)
    for (std::size_t before = 0; before < i; ++before) {
      const Rule &earlier = file.rules[before], &rule = file.rules[i];
      if (earlier.collective != rule.collective || earlier.choice == rule.choice || !cross(earlier.when, rule.when))
        continue;
      warnings.push_back(
          {rule.line, 1,
           fmt::format("some calls of {} fit this rule and the one in line {}, which counts: {} in place of {}",
                       to_string(rule.collective), earlier.line, to_text(earlier.choice), to_text(rule.choice))});
      break;
    }
}

std::vector<RuleWarning> warnings_of(const RuleFile& file) {
  std::vector<RuleWarning> warnings = file.warnings;
  for (const Rule& rule : file.rules)
    if (const std::string why = why_useless(rule); !why.empty())
      warnings.push_back(
          {rule.line, 1, fmt::format("this rule of {} is never used: {}", to_string(rule.collective), why)});
  add_overlaps(file, warnings);
  std::ranges::stable_sort(warnings, {}, &RuleWarning::line);
  return warnings;
}

/// The exit code for the file.
int check(const std::string& path, const SiteFacts& machine) {
  RuleFile file;
  try {
    file = read_rule_file(read_rule_text(path), path);
  } catch (const ArgumentError& error) {
    apps::print_error("tutti rules: {}\n", error.what());
    return apps::exit_bad_input;
  }
  const std::vector<RuleWarning> warnings = warnings_of(file);
  for (const RuleWarning& warning : warnings)
    apps::print("{}:{}:{}: warning: {}\n", path, warning.line, warning.column, warning.text);
  const std::string why = why_unfit(file, machine);
  apps::print("{}: {} rule{}, {} warning{}; {}\n", path, file.rules.size(), file.rules.size() == 1 ? "" : "s",
              warnings.size(), warnings.size() == 1 ? "" : "s",
              why.empty() ? "it fits this machine" : fmt::format("it does not fit this machine: {}", why));
  return warnings.empty() ? apps::exit_success : exit_warnings;
}

}  // namespace

int check_rules(const Arguments& arguments) {
  std::vector<std::string> files;
  apps::Options options{
      "tutti rules check",
      "Reads files of rules. Says what is wrong, with line and column, warns of rules that are never\n"
      "used and of those that others overlap, and says whether the file fits this machine.\n"
      "Exit code: 0, nothing to say; 1, warnings; 2, a file is wrong."};
  options.argument("FILE", apps::Options::Takes::one, [&](std::string_view given) { files.emplace_back(given); })
      .argument("FILES", apps::Options::Takes::any_number, [&](std::string_view given) { files.emplace_back(given); });
  if (is_told(options, arguments)) return apps::exit_success;
  const SiteFacts machine = machine_here();
  int code = apps::exit_success;
  for (const std::string& file : files)
    code = std::max(code, check(file, machine));
  return code;
}

}  // namespace tutti::tool
