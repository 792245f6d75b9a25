// tutti plot: draws what tutti-bench measured.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/plot_views.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;

struct Settings {
  std::vector<std::string> files;
  std::string output, placement = "out";
  bool has_table = false;
  PlotSettings plots{};
};

std::int64_t read_size(std::string_view text) { return apps::parse_bytes(text).value(); }

apps::Options options_for(Settings& settings) {
  apps::Options options{
      "tutti plot",
      "Draws what tutti-bench measured (docs/performance.md): files of tutti-bench --json, also of --pairs, as plots "
      "in\n"
      "SVG and one page of HTML, or as a table. A call that is in several files counts with the median over them.\n"
      "    mpirun -n 4 tutti-bench --ranks 2,4 --compare mpi --json results.json\n"
      "    tutti plot results.json --output plots"};
  PlotSettings& plots = settings.plots;
  options
      .argument("FILE", apps::Options::Takes::any_number,
                [&](std::string_view given) { settings.files.emplace_back(given); })
      .text("output", settings.output, "FOLDER",
            "write latency.svg, bandwidth.svg, ranks.svg, ratios.svg, pairs-*.svg, index.html with the plots of all "
            "collectives, and results.json, which can be drawn again")
      .flag("table", settings.has_table, "print the ratios of the MPI's time to Tutti's as Markdown")
      .text("collective", plots.collective, "NAME", "of the plots outside of the page")
      .choice("placement", settings.placement, {"out", "in"}, "of buffers: out of place, in place")
      .custom("ranks", "N,N,...", "all", "numbers of ranks in the plots by size and in the table",
              [&](std::string_view given) {
                for (const std::string& item : apps::split_list(given))
                  plots.ranks.push_back(static_cast<int>(apps::parse_integer(item, 1, 1 << 30)));
              })
      .custom("switch", "SIZE", "32K", "latency to this size, bandwidth from it on",
              [&](std::string_view given) { plots.switch_bytes = read_size(given); })
      .custom("sizes", "SIZE,...", "the least, that of --switch, the largest", "of the plot by ranks",
              [&](std::string_view given) {
                for (const std::string& item : apps::split_list(given))
                  plots.sizes.push_back(read_size(item));
              })
      .text("note", plots.note, "WORDS", "words for the line below the titles");
  return options;
}

template <class Values>
void require_one_of(std::string_view option, const Values& wanted, const Values& all) {
  for (const auto& each : wanted)
    if (std::ranges::find(all, each) == all.end())
      throw InputError(
          fmt::format("--{} {}: the files have no results of it; allowed: {}", option, each, fmt::join(all, ", ")));
}

void require_results(const Settings& settings, const Plotted& plotted) {
  if (plotted.calls.empty() && plotted.links.empty() && plotted.means.empty()) {
    throw InputError(plotted.left_out.empty() ? "the files have no results"
                                              : fmt::format("the files have no results that can be drawn: {}",
                                                            fmt::join(plotted.left_out, "; ")));
  }
  if (plotted.calls.empty()) return;
  require_one_of("ranks", settings.plots.ranks, plotted.ranks());
  if (!settings.output.empty())
    require_one_of("collective", std::vector{settings.plots.collective}, plotted.collectives());
}

/// The collective that is drawn unless the user names one: allreduce, or the first there is.
void choose_collective(Settings& settings, const Plotted& plotted) {
  const std::vector<std::string> names = plotted.collectives();
  if (!settings.plots.collective.empty() || names.empty()) return;
  const bool has_allreduce = std::ranges::find(names, "allreduce") != names.end();
  settings.plots.collective = has_allreduce ? "allreduce" : names.front();
}

void write_all(const Settings& settings, const Plotted& plotted) {
  const std::filesystem::path folder{settings.output};
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw InputError(fmt::format("--output {}: {}", settings.output, failure.message()));
  std::vector<std::string> written;
  const auto write = [&](const std::string& name, std::string_view bytes) {
    apps::require_writable(folder / name);
    apps::replace_file(folder / name, bytes);
    written.push_back(name);
  };
  for (const auto& [name, svg] : plots_of(settings.plots.collective, plotted, settings.plots))
    write(name + ".svg", svg);
  for (const auto& [name, svg] : pair_plots(plotted))
    write(name + ".svg", svg);
  write("index.html", page_of(plotted, settings.plots));
  if (!plotted.calls.empty()) write("results.json", results_text(plotted));
  if (!settings.has_table) apps::print("{}: {}\n", settings.output, fmt::join(written, ", "));
}

}  // namespace

int plot(const Arguments& arguments) {
  Settings settings;
  settings.plots.collective.clear();
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  if (settings.files.empty()) throw InputError("a FILE of tutti-bench --json is missing");
  if (settings.output.empty() && !settings.has_table)
    throw InputError("nothing is asked for; allowed: --output FOLDER, --table");
  settings.plots.in_place = settings.placement == "in";
  std::vector<BenchFile> files;
  for (const std::string& path : settings.files)
    files.push_back(read_bench_file(path));
  const Plotted plotted = tool::plotted(files);
  choose_collective(settings, plotted);
  require_results(settings, plotted);
  if (settings.has_table) apps::print(ratio_table(plotted, settings.plots));
  if (!settings.output.empty()) write_all(settings, plotted);
  for (const std::string& sentence : plotted.left_out)
    settings.has_table ? apps::print_error("tutti plot: {}\n", sentence) : apps::print("{}\n", sentence);
  return apps::exit_success;
}

}  // namespace tutti::tool
