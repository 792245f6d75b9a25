// tutti rules import: rules of other libraries as a file of rules.
#include <fmt/format.h>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/import.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rules_commands.hpp"
#include "lib/core/selection/rule_writer.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

struct Settings {
  std::string path, form, output, model;
  bool shows_names = false;
};

/// The names of algorithms, in Markdown: a row for each library and collective.
std::string table_of_names() {
  constexpr std::string_view libraries[] = {"Open MPI", "MPICH", "UCC", "NCCL, NCCLX"};
  constexpr std::string_view carried[] = {"", ", radix", ", segment", ", radix and segment", ", window"};
  std::string text = "| library | collective | its algorithms, and what they are here | refused |\n|---|---|---|---|\n";
  const std::span<const ForeignName> names = foreign_names();
  for (std::size_t i = 0; i < names.size();) {
    const ForeignName& first = names[i];
    std::string taken, refused;
    for (; i < names.size() && names[i].library == first.library && names[i].collective == first.collective; ++i) {
      const ForeignName& its = names[i];
      if (its.use.empty())
        refused += fmt::format("{}{}: {}", refused.empty() ? "" : "; ", its.name, its.remark);
      else
        taken += fmt::format("{}{}: `{}`{}{}", taken.empty() ? "" : "; ", its.name, its.use,
                             carried[static_cast<std::size_t>(its.carries)],
                             its.remark.empty() ? "" : fmt::format(" ({})", its.remark));
    }
    text += fmt::format("| {} | {} | {} | {} |\n", libraries[static_cast<std::size_t>(first.library)],
                        to_string(first.collective), taken, refused.empty() ? "-" : refused);
  }
  return text;
}

ForeignFile read_foreign(const Settings& settings, std::string_view text) {
  const std::string& path = settings.path;
  if (text.size() > longest_rule_file)
    throw apps::InputError(fmt::format("{}: the file has more than {} bytes", path, longest_rule_file));
  const bool is_json =
      text.find_first_not_of(" \t\r\n") != std::string_view::npos && text[text.find_first_not_of(" \t\r\n")] == '{';
  if (settings.form == "ompi") return read_openmpi_rules(text, path);
  if (settings.form == "ompi-json") return read_openmpi_json_rules(text, path);
  if (settings.form == "mpich") return read_mpich_rules(text, path);
  if (settings.form == "ucc") return read_ucc_rules(text, path, settings.model);
  if (settings.form == "ncclx" && is_json) return read_ncclx_json_rules(text, path);
  return read_nccl_rules(text, path);
}

void report(const ForeignFile& foreign, const Translation& translation, const std::string& path) {
  for (const std::string& line : translation.report)
    apps::print_error("{}\n", line);
  for (const std::string& note : foreign.notes)
    apps::print_error("{}: note: {}\n", path, note);
  apps::print_error("{}: {} rules read, {} translated into {}, {} refused\n", path, translation.read,
                    translation.translated, translation.file.rules.size(), translation.refused);
}

}  // namespace

int import_rules(const Arguments& arguments) {
  Settings settings;
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti rules import",
      "Turns rules of another library into a file of rules. A line to stderr tells each rule that Tutti\n"
      "cannot have, with the reason, and each that is here in part another one."};
  options.argument("FILE", Takes::one_or_none, [&](std::string_view given) { settings.path = given; })
      .choice(
          "from", settings.form, {"ompi", "ompi-json", "ucc", "nccl", "ncclx", "mpich"},
          "the form: Open MPI's classic files or those of version 6, UCC's tuning, NCCL's CSV, NCCLX's CSV or JSON, "
          "MPICH's JSON")
      .text("write", settings.output, "FILE",
            "where the rules go, in place of the output; the file is replaced as a whole")
      .text("model", settings.model, "NAME", "of UCC: the processor whose sections count, as in model=skylake")
      .flag("names", settings.shows_names, "prints what the algorithms of other libraries are here, and ends");
  if (is_told(options, arguments)) return apps::exit_success;
  if (settings.shows_names) {
    apps::print(table_of_names());
    return apps::exit_success;
  }
  if (settings.path.empty()) throw apps::InputError("FILE is missing");
  if (settings.form.empty())
    throw apps::InputError("--from is missing; allowed: ompi, ompi-json, ucc, nccl, ncclx, mpich");
  const std::string given = [&] {
    try {
      return read_rule_text(settings.path);
    } catch (const ArgumentError& error) {
      throw apps::InputError(error.what());
    }
  }();
  const ForeignFile foreign = read_foreign(settings, given);
  const Translation translation = translate(foreign, settings.path);
  report(foreign, translation, settings.path);
  const std::string text = write_rule_file(translation.file);
  if (settings.output.empty())
    apps::print(text);
  else
    apps::replace_file(settings.output, text);
  return apps::exit_success;
}

}  // namespace tutti::tool
