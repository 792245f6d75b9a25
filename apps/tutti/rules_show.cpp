// tutti rules show: the rules of a file as a table.
#include <fmt/format.h>

#include <optional>

#include "apps/standard_output.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/rules_commands.hpp"
#include "apps/tutti/table.hpp"
#include "lib/core/selection/rule_writer.hpp"

namespace tutti::tool {
namespace {

std::string machines_text(const FittingMachines& machines) {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  };
  if (machines.cpu) add("cpu", *machines.cpu);
  if (machines.gpu) add("gpu", *machines.gpu);
  if (machines.mpi) add("mpi", *machines.mpi);
  if (machines.network) add("network", *machines.network);
  if (!machines.nodes.is_open()) add("nodes", range_text(machines.nodes));
  if (!machines.ppn.is_open()) add("ppn", range_text(machines.ppn));
  return text.empty() ? "any machine" : text;
}

std::string table_of(const RuleFile& file) {
  std::string text = fmt::format("{}\nfor: {}\n", file.path, machines_text(file.machines));
  for (const auto& [key, value] : file.made)
    text += fmt::format("{}: {}\n", key, value);
  if (file.is_simulated) text += "simulated: the times are those of a simulated device\n";
  for (const auto& [key, value] : file.tuning.values)
    text += fmt::format("tuning: {} {}\n", key, value);
  std::vector<Cells> cells{{"line", "collective", "ranks", "nodes", "bytes", "if", "use", "gain"}};
  for (const Rule& rule : file.rules) {
    const std::string gain = gain_text(rule.measured);
    cells.push_back({fmt::to_string(rule.line), std::string{to_string(rule.collective)}, range_text(rule.when.ranks),
                     range_text(rule.when.nodes), sizes_text(rule.when), facts_text(rule.when), to_text(rule.choice),
                     gain.empty() ? "-" : gain});
  }
  return text + aligned(cells, "");
}

}  // namespace

int show_rules(const Arguments& arguments) {
  std::string path, collective, format = "text";
  bool is_builtin = false;
  apps::Options options{
      "tutti rules show",
      "Shows the rules of a file: as a table, whose gain is the time of others over that of the rule's\n"
      "algorithm, or as JSON. The built-in rules as JSON are those of the source, word for word."};
  options.argument("FILE", apps::Options::Takes::one_or_none, [&](std::string_view given) { path = given; })
      .flag("builtin", is_builtin, "the built-in rules")
      .text("collective", collective, "NAME", "only its rules")
      .choice("format", format, {"text", "json"}, "of the output");
  if (is_told(options, arguments)) return apps::exit_success;
  if (is_builtin == !path.empty()) throw apps::InputError("allowed: FILE or --builtin");
  if (is_builtin && format == "json" && collective.empty()) {
    apps::print(builtin_text());
    return apps::exit_success;
  }
  RuleFile file = load_rules(is_builtin ? "builtin" : path);
  if (!collective.empty())
    std::erase_if(file.rules,
                  [wanted = read_collective(collective)](const Rule& rule) { return rule.collective != wanted; });
  apps::print(format == "json" ? write_rule_file(file) : table_of(file));
  return apps::exit_success;
}

}  // namespace tutti::tool
