// tutti list: the algorithms there are.
#include <fmt/format.h>

#include <optional>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/table.hpp"
#include "lib/cost/catalogue.hpp"

namespace tutti::tool {
namespace {

std::vector<Cells> rows(std::optional<Collective> only) {
  std::vector<Cells> rows{{"collective", "algorithm", "order", "parameter", "summary", "source"}};
  for (int each = 0; each < collective_count; ++each) {
    const auto collective = static_cast<Collective>(each);
    if (only && *only != collective) continue;
    for (const Algorithm* algorithm : algorithms_of(collective))
      rows.push_back({std::string{to_string(collective)}, std::string{algorithm->name},
                      std::string{order_of(*algorithm)}, parameter_of(*algorithm), std::string{algorithm->summary},
                      std::string{algorithm->source}});
  }
  return rows;
}

}  // namespace

int list(const Arguments& arguments) {
  std::optional<Collective> only;
  bool markdown = false;
  apps::Options options{
      "tutti list",
      "Lists the algorithms: whether they combine elements in the order of ranks or need a commutative operation,\n"
      "and the parameter that they take, with what it is if none is given."};
  options
      .argument("COLLECTIVE", apps::Options::Takes::one_or_none,
                [&](std::string_view name) { only = read_collective(name); })
      .flag("markdown", markdown, "the table of algorithms/README.md");
  if (is_told(options, arguments)) return apps::exit_success;
  if (markdown && only) throw apps::InputError("--markdown prints the table of all collectives");
  if (markdown)
    apps::print(catalogue_table());
  else
    apps::print(aligned(rows(only), ""));
  return apps::exit_success;
}

}  // namespace tutti::tool
