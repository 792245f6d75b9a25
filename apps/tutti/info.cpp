// tutti info: the parts of this build, and the places of the ranks of a job.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/info_report.hpp"
#include "apps/tutti/info_session.hpp"
#include "apps/tutti/info_settings.hpp"
#include "apps/tutti/input.hpp"

namespace tutti::tool {
namespace {

constexpr int most_ranks = 1 << 20;

struct Wanted {
  bool json = false, matrix = false, counters = false, job = false, settings = false, algorithms = false;
  int ranks = 0, processors = 0;  ///< 0: those that are there.
  Spread spread;
  [[nodiscard]] bool is_of_choices() const { return settings || algorithms; }
};

void require_consistent(const Wanted& wanted) {
  if (!wanted.algorithms && (wanted.ranks > 0 || wanted.processors > 0 || !wanted.spread.nodes.empty()))
    throw apps::InputError("--ranks, --nodes and --processors: only with --algorithms");
  if (wanted.is_of_choices() && (wanted.matrix || wanted.counters))
    throw apps::InputError("--settings, --algorithms: not with --matrix and --counters");
  if (wanted.ranks > 0) require_levels_of(wanted.ranks, wanted.spread);
}

/// The text to print instead, if that was asked for.
std::optional<std::string> read(const Arguments& arguments, Wanted& wanted) {
  apps::Options options{
      "tutti info",
      "Tells what this build of Tutti is made of, and of each rank of a job where it is: nodes, sockets,\n"
      "NUMA nodes, caches, cores, GPUs, network interfaces, and how far ranks are from each other;\n"
      "and which way the buffers on CUDA devices take.\n"
      "    tutti info                  this process alone, without MPI\n"
      "    mpirun -n 4 tutti info      all ranks of the job; rank 0 prints\n"
      "    tutti info --settings       the variables of the environment\n"
      "    tutti info --algorithms --nodes 8,8    what 16 ranks on two nodes choose"};
  options
      .flag("json", wanted.json,
            "for programs: docs/topology.md describes it; --settings and --algorithms: docs/tool.md")
      .flag("matrix", wanted.matrix, "show the distances of all pairs of ranks also where a node has many")
      .flag("counters", wanted.counters,
            "do a few collectives, and show which ways their messages took: all counters by name")
      .flag("job", wanted.job, "initialise MPI also if no launcher is seen in the environment")
      .flag("settings", wanted.settings,
            "only the settings: the value of each, where it is from, what is allowed, and what is wrong")
      .flag("algorithms", wanted.algorithms, "only the algorithms that are chosen, for each range of sizes")
      .custom(
          "ranks,p", "N", "those of the job", "of --algorithms",
          [&](std::string_view given) { wanted.ranks = static_cast<int>(apps::parse_integer(given, 1, most_ranks)); })
      .custom("processors", "N", "those that may be used here", "of each node, for --algorithms",
              [&](std::string_view given) {
                wanted.processors = static_cast<int>(apps::parse_integer(given, 1, most_ranks));
              });
  add_nodes(options, wanted.spread.nodes);
  auto text = options.parse(arguments);
  if (!text && wanted.json && wanted.matrix) throw apps::InputError("--matrix: --json has all pairs anyway");
  if (!text && wanted.json && wanted.counters) throw apps::InputError("--counters: not with --json");
  if (!text) require_consistent(wanted);
  return text;
}

/// The ranks that were asked for; else those of the job, or one for each processor where there is no job.
CommunicatorForm form_of(const topology::Job& job, bool is_job, const Wanted& wanted) {
  std::set<int> processors;
  for (const int rank : job.nodes.front().ranks) {
    const topology::Numbers& its = job.bindings[static_cast<std::size_t>(rank)].processors;
    processors.insert(its.begin(), its.end());
  }
  CommunicatorForm form{job.node_of, wanted.processors};
  if (form.processors == 0) form.processors = std::max(1, static_cast<int>(processors.size()));
  const int ranks = wanted.ranks == 0 && !is_job ? form.processors : wanted.ranks;
  if (ranks > 0) form.nodes.assign(static_cast<std::size_t>(ranks), 0);
  if (!wanted.spread.nodes.empty()) form.nodes = wanted.spread.nodes;
  return form;
}

/// Only what was asked for. The ranks of a job ask each other where they are only if that is shown.
void print_choices(const MpiSession* session, const Wanted& wanted) {
  const bool asks = session != nullptr && wanted.algorithms && wanted.ranks == 0 && wanted.spread.nodes.empty();
  const topology::Job job = asks ? session->gather() : alone();
  if (session != nullptr && !session->speaks()) return;
  apps::Json json = apps::Json::object();
  std::string text;
  if (wanted.settings) {
    const SettingsReport report{session == nullptr ? 1 : session->size()};
    wanted.json ? json.update(report.json()) : void(text = report.text());
  }
  if (wanted.algorithms) {
    const AlgorithmsReport report{form_of(job, session != nullptr, wanted)};
    wanted.json ? json.update(report.json()) : void(text += (text.empty() ? "" : "\n") + report.text());
  }
  constexpr int indent = 1;
  apps::print("{}{}", text, wanted.json ? json.text(indent) + "\n" : "");
}

void print(const topology::Job& job, std::span<const CounterRow> counters, const Wanted& wanted) {
  const DeviceReport devices = device_report();
  if (wanted.json)
    apps::print("{}\n", to_json(job, devices));
  else
    apps::print("{}{}", to_text(job, wanted.matrix ? Pairs::of_all_nodes : Pairs::of_small_nodes), to_text(devices));
  if (!counters.empty()) apps::print("{}", to_text(counters));
}

}  // namespace

/// Ranks that a launcher started know each other before they read their options, so that one alone complains.
int info(const Arguments& arguments) {
  std::optional<MpiSession> session;
  if (is_launched()) session.emplace();
  const auto speaks = [&] { return !session || session->speaks(); };
  Wanted wanted;
  try {
    if (const auto text = read(arguments, wanted)) {
      if (speaks()) apps::print("{}", *text);
      return apps::exit_success;
    }
  } catch (const apps::InputError& error) {
    if (!session) throw;
    // Before MPI ends: launchers kill the others when the first process ends with an error.
    if (speaks()) apps::print_error("tutti info: {} (see --help)\n", error.what());
    return apps::exit_bad_input;
  }
  if ((wanted.job || wanted.counters) && !session) session.emplace();
  if (wanted.is_of_choices()) {
    print_choices(session ? &*session : nullptr, wanted);
    return apps::exit_success;
  }
  const topology::Job job = session ? session->gather() : alone();
  std::vector<CounterRow> counters;
  if (wanted.counters) counters = session->count_mechanisms();
  if (speaks()) print(job, counters, wanted);
  return apps::exit_success;
}

}  // namespace tutti::tool
