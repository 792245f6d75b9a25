// tutti list: the algorithms there are.
#include <fmt/format.h>

#include <optional>
#include <sstream>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/table.hpp"
#include "lib/proof/cost/catalogue.hpp"

namespace tutti::tool {
namespace {

struct Settings {
  std::optional<Collective> only;
  bool markdown = false;
  std::string page;
};

apps::Options options_for(Settings& settings) {
  apps::Options options{
      "tutti list",
      "Lists the algorithms: whether they combine elements in the order of ranks or need a commutative operation,\n"
      "and the parameter that they take, with what it is if none is given. Below: what they do, and their source."};
  options
      .argument("COLLECTIVE", apps::Options::Takes::one_or_none,
                [&](std::string_view name) { settings.only = read_collective(name); })
      .flag("markdown", settings.markdown, "the table of algorithms/README.md")
      .text("write", settings.page, "FILE", "with --markdown: replace the table in that page instead of printing it");
  return options;
}

void require_consistent(const Settings& settings) {
  if (settings.markdown && settings.only) throw apps::InputError("--markdown prints the table of all collectives");
  if (!settings.page.empty() && !settings.markdown) throw apps::InputError("--write needs --markdown");
}

std::vector<const Algorithm*> listed(std::optional<Collective> only) {
  std::vector<const Algorithm*> all;
  for (int each = 0; each < collective_count; ++each) {
    const auto collective = static_cast<Collective>(each);
    if (only && *only != collective) continue;
    const std::vector<const Algorithm*> some = algorithms_of(collective);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// A line for each algorithm, which begins with the collective, and indented lines below it; none is long.
std::string to_text(const std::vector<const Algorithm*>& algorithms) {
  constexpr std::string_view margin = "    ";
  std::vector<Cells> rows{{"collective", "algorithm", "order", "parameter"}};
  for (const Algorithm* algorithm : algorithms)
    rows.push_back({std::string{to_string(algorithm->collective)}, std::string{algorithm->name},
                    std::string{order_of(*algorithm)}, parameter_of(*algorithm)});
  std::istringstream lines{aligned(rows, "")};
  std::string line, text;
  std::getline(lines, line);
  text += line + '\n';
  for (const Algorithm* algorithm : algorithms) {
    std::getline(lines, line);
    text += line + '\n' + wrapped(algorithm->summary, margin) + wrapped(algorithm->source, margin);
  }
  return text;
}

/// Replaces the text between the two comments around the table. Throws InputError if the page lacks one of them.
void write_table(const std::string& path) {
  constexpr std::string_view begin_mark = "<!-- table: tutti list --markdown -->\n", end_mark = "<!-- end of table -->";
  std::string page = apps::read_file(path);
  const std::size_t begin = page.find(begin_mark);
  const std::size_t end = begin == std::string::npos ? begin : page.find(end_mark, begin);
  if (end == std::string::npos)
    throw apps::InputError(fmt::format("--write: '{}' has no table between '{}' and '{}'", path,
                                       begin_mark.substr(0, begin_mark.size() - 1), end_mark));
  const std::size_t table = begin + begin_mark.size();
  apps::replace_file(path, page.replace(table, end - table, catalogue_table()));
}

}  // namespace

int list(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  require_consistent(settings);
  if (!settings.page.empty())
    write_table(settings.page);
  else
    apps::print(settings.markdown ? catalogue_table() : to_text(listed(settings.only)));
  return apps::exit_success;
}

}  // namespace tutti::tool
