// tutti rules merge: several files of rules as one.
#include <fmt/format.h>

#include <algorithm>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/rules_commands.hpp"
#include "lib/core/selection/rule_writer.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {
namespace {

bool are_same(const FittingMachines& a, const FittingMachines& b) {
  return a.cpu == b.cpu && a.gpu == b.gpu && a.mpi == b.mpi && a.network == b.network && a.nodes == b.nodes &&
         a.ppn == b.ppn;
}

/// Adds the constants that `all` lacks; tells of those that differ.
void add_tuning(TunedConstants& all, const RuleFile& file) {
  for (const auto& [key, value] : file.tuning.values) {
    const auto has_key = [&key = key](const auto& its) { return its.first == key; };
    const auto found = std::ranges::find_if(all.values, has_key);
    if (found == all.values.end())
      all.values.emplace_back(key, value);
    else if (found->second != value)
      apps::print_error("tutti rules: note: {} sets {} to {}; the first file's {} stays\n", file.path, key, value,
                        found->second);
  }
}

using Made = std::vector<std::pair<std::string, std::string>>;

/// Where and when the files were made: each value of a key once.
void add_made(Made& all, const RuleFile& file) {
  for (const auto& [key, value] : file.made) {
    if (key == "by" || key == "command" || key == "note") continue;
    const auto same = std::ranges::find(all, key, &Made::value_type::first);
    if (same == all.end())
      all.emplace_back(key, value);
    else if (("; " + same->second + "; ").find("; " + value + "; ") == std::string::npos)
      same->second += "; " + value;
  }
}

RuleFile merged(const std::vector<std::string>& paths, bool is_for_any) {
  RuleFile all = load_rules(paths.front());
  Made made;
  add_made(made, all);
  std::string names = all.path;
  for (std::size_t i = 1; i < paths.size(); ++i) {
    RuleFile file = load_rules(paths[i]);
    if (!is_for_any && !are_same(all.machines, file.machines))
      throw apps::InputError(
          fmt::format("{} and {} are for different machines ('for'); allowed: --for-any, which "
                      "makes a file for all machines",
                      all.path, file.path));
    names += fmt::format(", {}", file.path);
    all.is_simulated = all.is_simulated || file.is_simulated;
    add_tuning(all.tuning, file);
    add_made(made, file);
    std::ranges::move(file.rules, std::back_inserter(all.rules));
  }
  if (is_for_any) all.machines = {};
  all.made = {{"by", fmt::format("tutti rules merge {}", TUTTI_VERSION)}, {"note", fmt::format("of {}", names)}};
  std::ranges::move(made, std::back_inserter(all.made));
  return all;
}

}  // namespace

int merge_rules(const Arguments& arguments) {
  std::vector<std::string> paths;
  std::string output;
  bool is_for_any = false;
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti rules merge",
      "Makes one file of several. The rules of the first come first, so that they count where others\n"
      "fit, too. `builtin` names the built-in rules."};
  options.argument("FILE", Takes::one, [&](std::string_view given) { paths.emplace_back(given); })
      .argument("FILES", Takes::any_number, [&](std::string_view given) { paths.emplace_back(given); })
      .text("write", output, "FILE", "where the rules go, in place of the output; the file is replaced as a whole")
      .flag("for-any", is_for_any, "the new file is for all machines, whatever the files are for");
  if (is_told(options, arguments)) return apps::exit_success;
  const std::string text = write_rule_file(merged(paths, is_for_any));
  const RuleFile read = [&] {
    try {
      return read_rule_file(text, output.empty() ? "merged" : output);
    } catch (const std::exception& error) {
      throw apps::InputError(error.what());
    }
  }();
  for (const RuleWarning& warning : read.warnings)
    apps::print_error("{}:{}: warning: {}\n", read.path, warning.line, warning.text);
  if (output.empty())
    apps::print(text);
  else
    apps::replace_file(output, text);
  return apps::exit_success;
}

}  // namespace tutti::tool
