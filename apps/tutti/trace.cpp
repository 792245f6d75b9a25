// tutti trace: merges the traces of a job's ranks.
#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/trace_job.hpp"
#include "apps/tutti/trace_summary.hpp"
#include "apps/tutti/trace_views.hpp"

namespace tutti::tool {
namespace {

struct Settings {
  std::string folder, timeline, picture, communicator;
  std::int64_t operation = -1;
  int slowest = 5;
  bool json = false, salvage = false;
};

apps::Options options_for(Settings& settings) {
  apps::Options options{
      "tutti trace",
      "Merges the traces that the ranks of a job wrote to a folder (TUTTI_TRACE=DIR): writes a timeline for Perfetto "
      "or\n"
      "chrome://tracing, and tells how long the collectives took and which ranks were late (docs/trace.md).\n"
      "    TUTTI_TRACE=traces mpirun -n 4 ./program\n"
      "    tutti trace traces\n"
      "    tutti trace traces --operation 12 --svg allreduce.svg"};
  options.argument("DIR", apps::Options::Takes::one, [&](std::string_view given) { settings.folder = given; })
      .text("output", settings.timeline, "FILE", "the timeline; if not given, trace.json in DIR")
      .flag("json", settings.json, "print the summary for programs: docs/trace.md describes it")
      .integer("slowest", settings.slowest, 0, 1'000'000, "calls that the summary lists, the slowest first")
      .text("svg", settings.picture, "FILE", "draw one operation instead of all this")
      .custom("operation", "N", "", "which: its number in its communicator",
              [&](std::string_view given) {
                settings.operation = apps::parse_integer(given, 0, std::numeric_limits<std::int64_t>::max());
              })
      .text("communicator", settings.communicator, "C", "of that communicator, where several have it: its name, as 0/8")
      .flag("salvage", settings.salvage, "take what stands before the damage in damaged files");
  return options;
}

void require_consistent(const Settings& settings) {
  if (settings.picture.empty() != (settings.operation < 0))
    throw apps::InputError("--svg and --operation: one needs the other");
  if (!settings.communicator.empty() && settings.operation < 0)
    throw apps::InputError("--communicator needs --operation");
  if (!settings.picture.empty() && (settings.json || !settings.timeline.empty()))
    throw apps::InputError("--svg: not with --json or --output");
}

}  // namespace

int trace(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  require_consistent(settings);
  const std::string timeline =
      settings.timeline.empty() ? (std::filesystem::path{settings.folder} / "trace.json").string() : settings.timeline;
  const TracedJob job = read_job(settings.folder, settings.salvage ? Salvage::yes : Salvage::no);
  if (!settings.picture.empty()) {
    apps::replace_file(settings.picture,
                       operation_svg(job, static_cast<std::uint64_t>(settings.operation), settings.communicator));
    return apps::exit_success;
  }
  const auto slowest = static_cast<std::size_t>(settings.slowest);
  apps::require_writable(timeline);
  apps::replace_file(timeline, [&](const apps::Append& append) { write_timeline(job, append); });
  if (settings.json)
    apps::print("{}\n", summary_json(job, slowest));
  else
    apps::print("{}\ntimeline: {}\n", summary_text(job, slowest), timeline);
  return apps::exit_success;
}

}  // namespace tutti::tool
