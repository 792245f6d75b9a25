#include "apps/bench/notes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/bench/devices.hpp"
#include "apps/bench/summary.hpp"
#include "apps/bench/table.hpp"

namespace tutti::bench {

std::string preface(const Settings& settings, const Machine& machine) {
  std::string text = fmt::format("# {}\n", machine.command);
  text += fmt::format("# ranks {}, nodes {} ({}), hardware threads {}, {}\n", machine.ranks, machine.nodes,
                      machine.hosts.front(), machine.cores, machine.mpi);
  if (machine.has_more_ranks_than_cores()) {
    text += "# more ranks than hardware threads: times say how ranks take turns, more than how data moves\n";
  }
  if (settings.compare == "mpi") {
    text += fmt::format("# MPI: {}\n# MPI's settings: {}\n", machine.mpi_version,
                        machine.mpi_settings.empty() ? "none in the environment"
                                                     : fmt::format("{}", fmt::join(machine.mpi_settings, " ")));
  }
  text += fmt::format("# {} calls, {} memory; times are of the slowest rank, over {} rounds\n", settings.mode,
                      settings.memory, settings.rounds);
  if (!machine.devices.empty()) {
    text += fmt::format("# devices, by rank: {}\n", fmt::join(machine.devices, ", "));
  }
  if (settings.is_touched) {
    text +=
        fmt::format("# inputs are rewritten before each call; calls are timed alone, reading the clock: {:.0f} ns\n",
                    machine.clock_cost_ns);
  }
  return text;
}

std::string heading(const Experiment& what, const Settings& settings) {
  const BenchCollective& collective = *what.collective;
  std::string text = fmt::format("#\n# {}", collective.name);
  if (collective.has_data) text += fmt::format(" of {}", settings.type);
  if (collective.reduces()) text += fmt::format(", {}", settings.op);
  if (collective.has_root()) text += fmt::format(", root {}", settings.root);
  text += '\n';
  if (collective.divided == Divided::unevenly || collective.divided == Divided::unevenly_by_pair) {
    text += fmt::format("# blocks differ, with the same total on all ranks: between 1/2 and 3/2 of the mean, {}\n",
                        collective.divided == Divided::unevenly ? "growing from rank 0 to the last"
                                                                : "block j of rank i like block i of rank j");
  }
  if (collective.is_one_way()) text += "# ranks meet in a barrier before each call, which is timed alone\n";
  const bool is_asked = settings.placement == "both" || what.placements == placements_named(settings.placement);
  if (!is_asked && collective.has_data) {
    text += fmt::format("# it has no call {} place\n", settings.placement == "out" ? "out of" : "in");
  }
  return text;
}

namespace {

/// How to read the columns of DeviceWork.
std::string work_lines(std::span<const Record> records) {
  if (records.empty() || !records.front().device) return {};
  std::string text = "# moved: bytes that a call moves between host and device, on the rank that moves most\n";
  if (records.front().device->driver) {
    text +=
        "# calls: of the driver for a call, without looks at events and changes of context; syncs: those that may "
        "wait\n"
        "# traffic: bytes on devices that all ranks read and write, as a multiple of the least number\n";
  }
  return text;
}

}  // namespace

std::string notes(const Experiment& what, const Settings& settings, const Machine& machine,
                  std::span<const Record> records) {
  std::string text = work_lines(records);
  if (settings.compare != "mpi") return text;
  if (!mpi_takes(*what.memory)) {
    text += fmt::format("# not compared: {} takes no memory of devices\n", machine.mpi);
    return text;
  }
  for (const Record& record : records) {
    if (record.peer) continue;
    text += fmt::format("# {} elements: not compared, MPI's call takes counts up to 2147483647\n", record.count);
  }
  const auto compared =
      std::find_if(records.begin(), records.end(), [](const Record& r) { return r.peer.has_value(); });
  if (compared == records.end()) return text;
  if (compared->peer->mode != settings.mode) {
    text += fmt::format("# {} has no {} calls: it was measured with {} ones\n", machine.mpi, settings.mode,
                        compared->peer->mode);
  }
  text += fmt::format("# ratio: {}'s median over Tutti's; above 1, Tutti is faster.", machine.mpi);
  if (what.algorithms.size() > 1) return text + '\n';
  const Summary summary = summarised(records).front();
  std::vector<std::string> means;
  if (summary.out_of_place) means.push_back(fmt::format("out of place {:.3f}", *summary.out_of_place));
  if (summary.in_place) means.push_back(fmt::format("in place {:.3f}", *summary.in_place));
  return text + fmt::format(" Geometric mean: {}\n", fmt::join(means, ", "));
}

}  // namespace tutti::bench
