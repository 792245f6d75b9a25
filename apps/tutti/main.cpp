// tutti: shows, proves and prices the registered algorithms, tells where ranks are and what they do, starts programs
// whose collectives Tutti serves, and shows what ranks have recorded. Only `info` calls MPI.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "apps/options.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "lib/core/schedule/plugins.hpp"

namespace {

using namespace tutti;
using namespace tutti::tool;

struct Command {
  std::string_view name, summary;
  int (*run)(const Arguments& arguments);
};
constexpr Command commands[] = {
    {"list", "the algorithms there are", list},
    {"show", "what the ranks do: as text, JSON or a picture", show},
    {"verify", "proves algorithms, and tests the proof on faulty ones", verify},
    {"cost", "compares what algorithms cost, and how long they would take", cost},
    {"simulate", "how long algorithms take on a network, whose links messages share", simulate},
    {"import", "algorithms of MSCCL as files of schedules", import_schedules},
    {"export", "schedules for MSCCL, for a simulator, or as a picture", export_schedules},
    {"choose", "what would run for a call, and by which rule", choose},
    {"rules", "checks, shows, compares, joins, draws and imports files of rules", rules},
    {"info", "what this build is made of, and where the ranks of a job are", info},
    {"run", "starts an MPI program whose collectives Tutti serves", run},
    {"ps", "the ranks on this node that use Tutti, and their calls", ps},
    {"tune", "measures which algorithms are the fastest here, and writes a file of rules", tune},
    {"trace", "merges the traces of a job's ranks: a timeline, and who was late", trace},
    {"bits", "finds the first call whose bits differ between two runs", tool::bits},
    {"plot", "draws what tutti-bench measured: plots, one page with all, a table", plot},
};

std::string summary() {
  std::string text =
      "Shows, proves and prices the algorithms of Tutti's collectives, and tells where ranks are.\n\nCommands:\n";
  for (const auto& [name, summary, run] : commands)
    text += fmt::format("  {:<8} {}\n", name, summary);
  return text + "\n`tutti COMMAND --help` says more of each.";
}

const Command& command_of(std::string_view name) {
  const auto* const found = std::ranges::find(commands, name, &Command::name);
  if (found != std::end(commands)) return *found;
  std::vector<std::string> names;
  for (const Command& command : commands)
    names.emplace_back(command.name);
  throw apps::InputError(fmt::format("'{}' is no command; {}", name, allowed(name, names)));
}

int tool_main(const Arguments& arguments) {
  load_algorithms_in_environment();
  if (!arguments.empty() && !arguments[0].starts_with("-"))
    return command_of(arguments[0]).run({arguments.begin() + 1, arguments.end()});
  apps::Options options{"tutti", summary()};
  options.argument("COMMAND", apps::Options::Takes::one, [](std::string_view) {});
  if (!is_told(options, arguments.empty() ? Arguments{"--help"} : arguments))
    throw apps::InputError("the command comes first, then its options");
  return apps::exit_success;
}

}  // namespace

int main(int argc, char** argv) {
  apps::reserve_standard_streams();
  const Arguments arguments{argv + 1, argv + argc};
  const bool has_command = !arguments.empty() && !arguments[0].starts_with("-");
  try {
    return apps::exit_code_after_output("tutti", tool_main(arguments));
  } catch (const apps::InputError& error) {
    apps::print_error("tutti{}: {} (see --help)\n", has_command ? " " + arguments[0] : "", error.what());
    return apps::exit_bad_input;
  } catch (const std::exception& error) {
    apps::print_error("tutti: {}\n", error.what());
    return apps::exit_failure;
  }
}
