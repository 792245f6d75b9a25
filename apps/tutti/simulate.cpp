// tutti simulate: how long algorithms take on a network.
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <span>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/simulate_report.hpp"
#include "apps/tutti/simulate_run.hpp"
#include "lib/proof/simulator/exports.hpp"
#include "tutti/error.hpp"

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
  if (words.size() > 2 && call.bytes == 0)
    throw InputError(fmt::format("--then '{}': 0 bytes; allowed: 1 or more", text));
  return call;
}

/// "64K", or "1K-16M": that size and twice as much until the other one is passed.
void add_sizes(const std::string& text, std::vector<std::int64_t>& sizes) {
  const std::size_t dash = text.find('-');
  const std::int64_t least = apps::parse_bytes(text.substr(0, dash)).value();
  if (dash == std::string::npos) return sizes.push_back(least);
  const std::int64_t most = apps::parse_bytes(text.substr(dash + 1)).value();
  if (least < 1 || least > most)
    throw InputError(fmt::format("'{}': a range begins with its least size, from 1", text));
  for (std::int64_t size = least; size <= most; size *= 2) {
    sizes.push_back(size);
    if (size > most / 2) break;
  }
}

void add_machine(apps::Options& options, Settings& settings) {
  options
      .text("topology", settings.topology, "NAME|FILE",
            "crossbar, fat-tree:2;8,8;1,4;1,1, torus:4,4,4, dragonfly:4,1;2,1;4,1;2 (the numbers of SimGrid), or a "
            "JSON file")
      .text("placement", settings.placement, "HOW|FILE",
            "hosts of ranks: block, cyclic, random:SEED (blocks on random hosts), or a file that names them")
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
  options
      .number("limit", settings.limit, 0, 1e9,
              "seconds of computing for each row; one that takes longer is given up; 0: none")
      .flag("details", settings.shows_details, "links and critical path of every algorithm")
      .choice("format", settings.format, {"text", "json", "csv", "svg"}, "what is written")
      .choice("picture", settings.picture, {"sizes", "time", "links"},
              "of --format svg: time over sizes, ranks over time, or how busy links are; by default sizes if there are "
              "several, time of one row that is small enough, else links")
      .choice("export", settings.exported, {"goal", "platform"},
              "write the schedules for LogGOPSim and ATLAHS, or the network for SimGrid, instead");
}

apps::Options options_for(Settings& settings) {
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti simulate",
      "Simulates algorithms on a network, whose links the messages share: time, how many times that is a lower "
      "bound\n"
      "for all algorithms, the busiest links, and the chain of steps that took the longest. ALGORITHM is a name as for "
      "tutti\n"
      "cost, but with sizes in bytes; auto: what Tutti would choose; each (the default): all there are."};
  options.argument("COLLECTIVE", Takes::one_or_none, [&](std::string_view given) { settings.collective = given; })
      .argument("ALGORITHM", Takes::any_number,
                [&](std::string_view given) { settings.algorithms.emplace_back(given); })
      .custom("file", "FILE,...", "", "the schedules of these files, too",
              [&](std::string_view given) { settings.files = apps::split_list(given); })
      .integer("ranks,p", settings.ranks, 1, most_ranks, "ranks")
      .custom("bytes,n", "N,N-N,...", "1K,1M",
              "bytes of the larger buffer: 8, 64K, 1M; 1K-16M: 1K and twice as many up to 16M",
              [&](std::string_view given) {
                settings.sizes.clear();
                for (const std::string& item : apps::split_list(given))
                  add_sizes(item, settings.sizes);
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
    if (settings.is_sequence()) throw InputError(fmt::format("--file {}: not in a sequence (--calls, --then)", path));
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
  if (!settings.exported.empty() && settings.format != "text")
    throw InputError(
        fmt::format("--export {}: not with --format {}: it has a form of its own", settings.exported, settings.format));
  if (!settings.picture.empty() && settings.format != "svg") throw InputError("--picture: allowed with --format svg");
  const bool needs_one = settings.exported == "goal" || settings.picture == "time";
  if (needs_one && rows != 1)
    throw InputError(fmt::format("{}: needed are one ALGORITHM and one size; given: {}",
                                 settings.exported.empty() ? "--picture time" : "--export goal", rows));
  if (settings.picture == "time" && settings.ranks > most_ranks_in_picture)
    throw InputError(fmt::format("--picture time draws at most {} ranks", most_ranks_in_picture));
}

/// The picture of --format svg if none was asked for. One with time is too large for many ranks and steps: `steps` are
/// 0 before it is known how many there are.
std::string usual_picture(const Settings& settings, std::size_t rows, std::size_t steps) {
  if (settings.sizes.size() > 1) return "sizes";
  const bool is_small = settings.ranks <= most_ranks_in_picture && steps <= most_steps_in_picture;
  return rows == 1 && is_small ? "time" : "links";
}

std::string written(const std::vector<SimulatedRow>& rows, const Settings& settings, const SimulatedMachine& machine) {
  if (settings.format == "json") return simulation_json(rows, settings, machine);
  if (settings.format == "csv") return simulation_csv(rows);
  const std::string picture =
      settings.picture.empty() ? usual_picture(settings, rows.size(), rows.front().steps.size()) : settings.picture;
  if (picture == "time") return svg_of_time(rows.front(), settings, machine);
  return picture == "links" ? svg_of_links(rows, settings, machine) : svg_of_sizes(rows, settings, machine);
}

/// A line on a terminal that says which row is computed, once the rows have taken a second.
class Progress {
 public:
  explicit Progress(std::size_t rows) : rows_(rows) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }
  void clear() {
    if (is_shown_) apps::print_error("{}", erase_line);
    is_shown_ = is_told_ = false;
  }
  void begin(std::string row) {
    row_ = std::move(row), ++number_;
    is_told_ = false;
  }
  void look() {
    using namespace std::chrono_literals;
    if (!is_terminal_ || is_told_ || std::chrono::steady_clock::now() - began_ < 1s) return;
    apps::print_error("{}row {} of {}: {}", erase_line, number_, rows_, row_);
    is_told_ = is_shown_ = true;
  }

 private:
  static constexpr std::string_view erase_line = "\r\x1b[K";
  std::size_t rows_, number_ = 0;
  std::string row_;
  bool is_terminal_ = isatty(STDERR_FILENO) == 1, is_told_ = false, is_shown_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// Refuses a topology in which hosts do not reach each other.
void require_routes(const simulator::Topology& topology, const Settings& settings) try {
  std::vector<int> links;
  for (int from = 0; from < topology.hosts(); ++from)
    for (int to = 0; to < topology.hosts(); ++to) {
      links.clear();
      if (from != to) topology.route(from, to, links);
    }
} catch (const ArgumentError& error) {
  throw InputError(fmt::format("--topology {}: {}", settings.topology, error.what()));
}

int export_all(Experiment& experiment, const Settings& settings, const SimulatedMachine& machine,
               const Candidate& candidate) {
  const auto write = [](std::string_view piece) { apps::print(piece); };
  if (settings.exported == "goal") {
    if (!settings.late.empty() || settings.noise > 0)
      apps::print_error("tutti simulate: --export goal: schedules alone; --late and --noise are left out\n");
    experiment.export_goal(candidate, settings.sizes.front(), write);
  } else {
    constexpr int most_hosts = 2048;
    if (machine.topology->hosts() > most_hosts)
      throw InputError(
          fmt::format("--export platform: {} hosts; allowed: up to {}", machine.topology->hosts(), most_hosts));
    require_routes(*machine.topology, settings);
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
  require_consistent(settings, count);
  const SimulatedMachine machine{settings};
  Experiment experiment{settings, machine};
  if (!settings.exported.empty()) return export_all(experiment, settings, machine, all.front());
  const bool may_show_time = settings.picture == "time" || (settings.format == "svg" && settings.picture.empty() &&
                                                            usual_picture(settings, count, 0) == "time");
  const bool is_text = settings.format == "text";
  if (is_text) apps::print(simulation_head(settings, machine));
  std::vector<SimulatedRow> rows;
  Progress progress{count};
  for (const std::int64_t bytes : settings.sizes) {
    for (const Candidate& candidate : all) {
      progress.begin(fmt::format("{}, {} bytes", candidate.name, bytes));
      rows.push_back(experiment.row(candidate, bytes, may_show_time, [&] { progress.look(); }));
    }
    if (!is_text) continue;
    progress.clear();
    apps::print(simulation_text(std::span{rows}.last(all.size()), settings, count == 1));
    apps::flush_output();  // other sizes may take long
  }
  progress.clear();
  if (!is_text) apps::print(written(rows, settings, machine));
  return apps::exit_success;
}

}  // namespace tutti::tool
