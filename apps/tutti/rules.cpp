// tutti rules: the commands for files of rules.
#include <fmt/format.h>

#include <algorithm>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rules_commands.hpp"

namespace tutti::tool {
namespace {

struct RulesCommand {
  std::string_view name, summary;
  int (*run)(const Arguments& arguments);
};
constexpr RulesCommand rules_commands[] = {
    {"check", "what is wrong with files, and whether they fit this machine", check_rules},
    {"show", "the rules of a file, or the built-in ones, as a table or JSON", show_rules},
    {"diff", "where two files choose differently", diff_rules},
    {"merge", "several files as one", merge_rules},
    {"plot", "what a file chooses, as a picture", plot_rules},
    {"import", "rules of Open MPI, MPICH, UCC, NCCL or NCCLX as a file of rules", import_rules},
};

std::string rules_summary() {
  std::string text = "Works with files of rules, which say which algorithm runs (docs/rules.md).\n\nCommands:\n";
  for (const auto& [name, summary, run] : rules_commands)
    text += fmt::format("  {:<8} {}\n", name, summary);
  return text + "\n`tutti rules COMMAND --help` says more of each.";
}

}  // namespace

int rules(const Arguments& arguments) {
  if (!arguments.empty() && !arguments[0].starts_with("-")) {
    const auto* const found = std::ranges::find(rules_commands, std::string_view{arguments[0]}, &RulesCommand::name);
    if (found != std::end(rules_commands)) return found->run({arguments.begin() + 1, arguments.end()});
    std::vector<std::string> names;
    for (const RulesCommand& command : rules_commands)
      names.emplace_back(command.name);
    throw apps::InputError(fmt::format("'{}' is no command; {}", arguments[0], allowed(arguments[0], names)));
  }
  apps::Options options{"tutti rules", rules_summary()};
  options.argument("COMMAND", apps::Options::Takes::one, [](std::string_view) {});
  if (!is_told(options, arguments.empty() ? Arguments{"--help"} : arguments))
    throw apps::InputError("the command comes first, then its options");
  return apps::exit_success;
}

}  // namespace tutti::tool
