// tutti simulate: how long algorithms take on a network.
#include <fmt/format.h>

#include <algorithm>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/simulate_report.hpp"
#include "apps/tutti/simulate_run.hpp"
#include "lib/proof/simulator/exports.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;
using Settings = SimulationSettings;

constexpr int most_ranks = 1 << 20, most_calls = 1000;

/// "allgather ring 64K"
SimulatedCall read_call(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = text.find_first_not_of(' '); begin != std::string::npos;) {
    const std::size_t end = text.find(' ', begin);
    words.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? end : text.find_first_not_of(' ', end);
  }
  if (words.empty() || words.size() > 3)
    throw InputError(
        fmt::format("--then '{}': the form is COLLECTIVE [ALGORITHM [BYTES]], as in 'allgather ring 64K'", text));
  SimulatedCall call{words[0], words.size() > 1 ? words[1] : "auto"};
  const Collective collective = read_collective(call.collective);
  if (call.algorithm != "auto") static_cast<void>(read_algorithm(collective, call.algorithm));
  if (words.size() > 2) call.bytes = apps::parse_bytes(words[2]).value();
  return call;
}

void add_machine(apps::Options& options, Settings& settings) {
  options
      .text("topology", settings.topology, "NAME|FILE",
            "crossbar, fat-tree:2;8,8;1,4;1,1, torus:4,4,4, dragonfly:4,1;2,1;4,1;2 (the numbers of SimGrid), or a "
            "JSON file")
      .text("placement", settings.placement, "HOW|FILE",
            "hosts of ranks: block, cyclic, random:SEED (blocks on random hosts), or a file with a host for each rank")
      .integer("ppn", settings.ppn, 1, most_ranks, "ranks on each host")
      .integer("sockets", settings.sockets, 1, most_ranks, "sockets of a host")
      .text("rates", settings.rates_file, "FILE", "times of messages and work, as tutti-bench --fit writes them")
      .custom("set", "NAME=VALUE,...", "", "changes rates: overhead=0, link.bandwidth=25 (docs/simulation.md)",
              [&settings](std::string_view given) { settings.changed_rates = apps::split_list(given); });
}

void add_conditions(apps::Options& options, Settings& settings) {
  options.integer("root", settings.root, 0, most_ranks, "of broadcast, reduce, gather, scatter")
      .integer("element", settings.element, 1, 16, "bytes of an element")
      .text("rules", settings.rules, "FILE", "by which auto chooses: as for tutti choose")
      .choice(
          "sharing", settings.sharing, {"equal", "latency"},
          "shares of messages that meet on a link: equal, or inversely proportional to their latencies, as in SimGrid")
      .text("late", settings.late, "RANKS:US,...", "ranks that start later, by microseconds: 3:10,8-15:2.5")
      .number("noise", settings.noise, 0, 1000, "mean share by which latencies and work are longer, at random")
      .integer("seed", settings.seed, 0, std::int64_t{1} << 53, "of the noise")
      .integer("calls", settings.calls, 1, most_calls, "how often the call, with those of --then, is made")
      .custom("then", "CALL,...", "", "calls that follow: 'allgather ring 64K,barrier'", [&](std::string_view given) {
        for (const std::string& item : apps::split_list(given))
          settings.then.push_back(read_call(item));
      });
}

void add_output(apps::Options& options, Settings& settings) {
  options.flag("details", settings.shows_details, "links and critical path of every algorithm")
      .choice("format", settings.format, {"text", "json", "csv", "svg"}, "what is written")
      .choice("picture", settings.picture, {"sizes", "time", "links"},
              "of --format svg: time over sizes, ranks over time, or how busy links are; by default sizes if there are "
              "several")
      .choice("export", settings.exported, {"goal", "platform"},
              "write the schedules for LogGOPSim and ATLAHS, or the network for SimGrid, instead");
}

apps::Options options_for(Settings& settings) {
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti simulate",
      "Simulates algorithms on a network, whose links the messages share: time, how far that is from what no "
      "algorithm\n"
      "can do better, the busiest links, and the chain of steps that took the longest. ALGORITHM is a name as for "
      "tutti\n"
      "cost, but with sizes in bytes; auto: what Tutti would choose; each (the default): all there are."};
  options.argument("COLLECTIVE", Takes::one_or_none, [&](std::string_view given) { settings.collective = given; })
      .argument("ALGORITHM", Takes::any_number,
                [&](std::string_view given) { settings.algorithms.emplace_back(given); })
      .custom("file", "FILE,...", "", "the schedules of these files, too",
              [&](std::string_view given) { settings.files = apps::split_list(given); })
      .integer("ranks,p", settings.ranks, 1, most_ranks, "ranks")
      .custom("bytes,n", "N,N,...", "1K,1M", "bytes of the larger buffer: 8, 64K, 1M", [&](std::string_view given) {
        settings.sizes.clear();
        for (const std::string& item : apps::split_list(given))
          settings.sizes.push_back(apps::parse_bytes(item).value());
      });
  add_machine(options, settings);
  add_conditions(options, settings);
  add_output(options, settings);
  return options;
}

std::vector<Candidate> candidates(const Settings& settings, const std::vector<ScheduleFile>& files) {
  const Collective collective = read_collective(settings.collective);
  std::vector<Candidate> all;
  for (const std::string& name : settings.algorithms) {
    if (name == "auto") {
      all.push_back({"auto"});
    } else if (name == "each") {
      for (const Algorithm* algorithm : algorithms_of(collective))
        all.push_back({std::string{algorithm->name}, read_algorithm(collective, algorithm->name)});
    } else {
      all.push_back({name, read_algorithm(collective, name)});
    }
  }
  for (const ScheduleFile& file : files)
    all.push_back({file.path, std::nullopt, &file});
  return all;
}

std::vector<ScheduleFile> files_of(Settings& settings) {
  std::vector<ScheduleFile> files;
  for (const std::string& path : settings.files) {
    const ScheduleFile& file = files.emplace_back(read_schedules(path));
    if (settings.collective.empty()) settings.collective = to_string(file.collective), settings.ranks = file.ranks;
    if (to_string(file.collective) != settings.collective)
      throw InputError(
          fmt::format("--file {}: it is for {}, not {}", path, to_string(file.collective), settings.collective));
    if (file.ranks != settings.ranks)
      throw InputError(fmt::format("--file {}: it is for {} ranks: --ranks {}", path, file.ranks, file.ranks));
    if (settings.calls > 1 || !settings.then.empty())
      throw InputError(fmt::format("--file {}: not in a sequence (--calls, --then)", path));
  }
  if (settings.collective.empty()) throw InputError("COLLECTIVE is missing; or --file FILE");
  if (files.empty() && settings.algorithms.empty()) settings.algorithms = {"each"};
  return files;
}

void require_consistent(const Settings& settings, std::size_t rows) {
  if (settings.root >= settings.ranks)
    throw InputError(
        fmt::format("--root {} is no rank of {}: allowed: 0 to {}", settings.root, settings.ranks, settings.ranks - 1));
  if (settings.root != 0 && !has_root(read_collective(settings.collective)))
    throw InputError(fmt::format("--root: {} has no root", settings.collective));
  if (!settings.picture.empty() && settings.format != "svg") throw InputError("--picture: allowed with --format svg");
  const bool needs_one = settings.exported == "goal" || settings.picture == "time";
  if (needs_one && rows != 1)
    throw InputError(fmt::format("{}: needed are one ALGORITHM and one size; given: {}",
                                 settings.exported.empty() ? "--picture time" : "--export goal", rows));
  if (settings.picture == "time" && settings.ranks > most_ranks_in_picture)
    throw InputError(fmt::format("--picture time draws at most {} ranks", most_ranks_in_picture));
}

std::string written(const std::vector<SimulatedRow>& rows, const Settings& settings, const SimulatedMachine& machine) {
  if (settings.format == "json") return simulation_json(rows, settings, machine);
  if (settings.format == "csv") return simulation_csv(rows);
  if (settings.format == "text") return simulation_text(rows, settings, machine);
  if (settings.picture == "time") return svg_of_time(rows.front(), settings);
  return settings.picture == "links" ? svg_of_links(rows, settings) : svg_of_sizes(rows, settings);
}

int export_all(Experiment& experiment, const Settings& settings, const SimulatedMachine& machine,
               const Candidate& candidate) {
  const auto write = [](std::string_view piece) { apps::print(piece); };
  if (settings.exported == "goal") {
    experiment.export_goal(candidate, settings.sizes.front(), write);
  } else {
    constexpr int most_hosts = 2048;
    if (machine.topology->hosts() > most_hosts)
      throw InputError(
          fmt::format("--export platform: {} hosts; allowed: up to {}", machine.topology->hosts(), most_hosts));
    simulator::write_platform(*machine.topology, write);
  }
  return apps::exit_success;
}

}  // namespace

int simulate(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  const std::vector<ScheduleFile> files = files_of(settings);
  const std::vector<Candidate> all = candidates(settings, files);
  if (read_collective(settings.collective) == Collective::barrier) settings.sizes = {0};
  const std::size_t count = all.size() * settings.sizes.size();
  if (settings.format == "svg" && settings.picture.empty())
    settings.picture = settings.sizes.size() > 1 ? "sizes" : count == 1 ? "time" : "links";
  require_consistent(settings, count);
  const SimulatedMachine machine{settings};
  Experiment experiment{settings, machine};
  if (!settings.exported.empty()) return export_all(experiment, settings, machine, all.front());
  std::vector<SimulatedRow> rows;
  for (const std::int64_t bytes : settings.sizes)
    for (const Candidate& candidate : all)
      rows.push_back(experiment.row(candidate, bytes, settings.picture == "time"));
  apps::print(written(rows, settings, machine));
  return apps::exit_success;
}

}  // namespace tutti::tool
