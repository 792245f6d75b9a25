// tutti info: the parts of this build, and the places of the ranks of a job.
#include <fmt/format.h>

#include <optional>
#include <span>
#include <vector>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/info_counters.hpp"
#include "apps/tutti/info_json.hpp"
#include "apps/tutti/info_session.hpp"
#include "apps/tutti/info_text.hpp"
#include "apps/tutti/input.hpp"

namespace tutti::tool {
namespace {

struct Wanted {
  bool json = false, matrix = false, counters = false, job = false;
};

/// The text to print instead, if that was asked for.
std::optional<std::string> read(const Arguments& arguments, Wanted& wanted) {
  apps::Options options{
      "tutti info",
      "Tells what this build of Tutti is made of, and of each rank of a job where it is: nodes, sockets,\n"
      "NUMA nodes, caches, cores, GPUs, network interfaces, and how far ranks are from each other;\n"
      "and which way the buffers on CUDA devices take.\n"
      "    tutti info                  this process alone, without MPI\n"
      "    mpirun -n 4 tutti info      all ranks of the job; rank 0 prints"};
  options.flag("json", wanted.json, "for programs: docs/topology.md describes it")
      .flag("matrix", wanted.matrix, "show the distances of all pairs of ranks also where a node has many")
      .flag("counters", wanted.counters,
            "do a few collectives, and show which ways their messages took: all counters by name")
      .flag("job", wanted.job, "initialise MPI also if no launcher is seen in the environment");
  auto text = options.parse(arguments);
  if (!text && wanted.json && wanted.matrix) throw apps::InputError("--matrix: --json has all pairs anyway");
  if (!text && wanted.json && wanted.counters) throw apps::InputError("--counters: not with --json");
  return text;
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
    if (speaks()) fmt::print(stderr, "tutti info: {} (see --help)\n", error.what());
    return apps::exit_bad_input;
  }
  if ((wanted.job || wanted.counters) && !session) session.emplace();
  const topology::Job job = session ? session->gather() : alone();
  std::vector<CounterRow> counters;
  if (wanted.counters) counters = session->count_mechanisms();
  if (speaks()) print(job, counters, wanted);
  return apps::exit_success;
}

}  // namespace tutti::tool
