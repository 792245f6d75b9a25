// tutti import: algorithms of others as files of schedules.
#include <fmt/format.h>

#include <iterator>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/msccl.hpp"

namespace tutti::tool {
namespace {

struct Settings {
  std::string form, path, output;
  int root = 0;
  bool unproved = false;
};

/// Writes the file that `--file` reads. Returns the exit code.
int write(const Scene& scene, const Settings& settings) {
  const std::string text = to_json(scene, -1) + "\n";
  if (settings.output.empty())
    apps::print("{}", text);
  else
    apps::replace_file(settings.output, text);
  if (scene.choice.algorithm->bits == Bits::differ)
    apps::print_error(
        "{}: note: ranks combine operands in different orders, and so may get different bits: \"bits\" is \"differ\"\n",
        settings.path);
  if (scene.verdict.proved()) return apps::exit_success;
  apps::print_error("{}: {}\n", settings.path, scene.cost_text());
  return apps::exit_failure;
}

}  // namespace

int import_schedules(const Arguments& arguments) {
  Settings settings;
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti import",
      "Turns an algorithm of MSCCL, in XML, into a file of schedules, which --file of other commands reads\n"
      "(docs/schedule-files.md). It is proved before it is written.\n\n"
      "Example: tutti import msccl allreduce.xml > allreduce.json"};
  options.argument("FORMAT", Takes::one_or_none, [&](std::string_view given) { settings.form = given; })
      .argument("FILE", Takes::one_or_none, [&](std::string_view given) { settings.path = given; })
      .text("write", settings.output, "FILE",
            "where the schedules go, in place of the output; the file is replaced as a whole")
      .integer("root", settings.root, 0, most_ranks_in_file - 1,
               "of broadcast, reduce, gather, scatter, which the format does not name")
      .flag("unproved", settings.unproved, "write the schedules also if they are not proved; exit code 1 then");
  if (is_told(options, arguments)) return apps::exit_success;
  if (settings.form.empty()) throw apps::InputError("FORMAT is missing; allowed: msccl");
  if (settings.form != "msccl")
    throw apps::InputError(fmt::format("'{}' is no format; {}", settings.form, allowed(settings.form, {"msccl"})));
  if (settings.path.empty()) throw apps::InputError("FILE is missing; -: standard input");
  const std::string text = read_text(settings.path);
  if (settings.path == "-") settings.path = "standard input";
  ScheduleFile file = schedules_of(read_msccl(text, settings.path), Rank{settings.root});
  settle(file);
  const Count chunks{file.chunks};
  const FiledScene filed{std::move(file), chunks, false, settings.unproved ? Unproved::shown : Unproved::refused};
  return write(filed.scene(), settings);
}

}  // namespace tutti::tool
