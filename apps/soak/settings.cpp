#include "apps/soak/settings.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

#include "apps/bench/memory.hpp"
#include "apps/soak/calls.hpp"

namespace tutti::soak {
namespace {

using apps::InputError;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

std::vector<std::string> mode_names() { return {std::begin(way_names), std::end(way_names)}; }

std::vector<std::string> memory_names() {
  std::vector<std::string> names;
  for (const bench::BenchMemory& memory : bench::memories())
    names.emplace_back(memory.name);
  return names;
}

void add_length_options(apps::Options& options, Settings& s) {
  constexpr double most_seconds = 1e8;
  options
      .custom("seconds", "N", "60", "how long the run takes, a moment more or less",
              [&s](std::string_view given) { s.seconds = apps::parse_number(given, 0, most_seconds); })
      .custom("calls", "N", "", "instead of --seconds: how many calls each thread makes",
              [&s](std::string_view given) { s.calls = apps::parse_integer(given, 1, most); })
      .custom(
          "seed", "N", "by the clock", "which calls are made; the same seed, options and ranks make the same ones",
          [&s](std::string_view given) { s.seed = static_cast<std::uint64_t>(apps::parse_integer(given, 0, most)); })
      .integer("from-call", s.from_call, 0, most - (std::int64_t{1} << 32), "begin with the call of this number");
}

void add_call_options(apps::Options& options, Settings& s) {
  options.integer("threads", s.threads, 1, 256, "threads of each rank, each with communicators of its own");
  options.custom("most-bytes", "SIZE", "4M", "largest buffer of a rank, about; sizes are log-uniform from 0 up to it",
                 [&s](std::string_view given) {
                   constexpr Bytes least{16}, largest{1 << 30};
                   s.most_bytes = apps::parse_bytes(given);
                   if (s.most_bytes < least || s.most_bytes > largest) throw InputError("allowed: 16 to 1G");
                 });
  options.names("collectives", s.collectives, call_names(), "what is called");
  options.names("modes", s.modes, mode_names(), "how it is called");
  options.names(
      "memory", s.memories, memory_names(),
      "where buffers are; tutti: what tutti::allocate gives; pinned, managed, device: what the CUDA driver gives");
  options.choice("transport", s.transport, {"auto", "shm", "mpi", "ucx", "shm+ucx", "random"},
                 "what messages travel through; auto: what TUTTI_TRANSPORT says, or else Tutti chooses; random: "
                 "another one for each communicator");
  options.choice("compare", s.compare, {"none", "mpi"},
                 "mpi: compare many results with those of the MPI's own calls, instead of computed ones");
}

void add_report_options(apps::Options& options, Settings& s) {
  options.number("report", s.report, 0.1, 1e8, "seconds from one line of figures to the next");
  options.flag("by-node", s.by_node, "show the resources of each node, too");
  options.flag("list", s.lists_calls, "print each call of rank 0 before it is made");
  options.text("json", s.json, "FILE", "write the figures as JSON");
  options.integer("hang-after", s.hang_after, 1, 1'000'000,
                  "seconds in which a thread makes no headway, after which the run is ended");
}

/// Shown, as users may want to see that their logs and their jobs would tell of a fault.
void add_fault_options(apps::Options& options, Settings& s) {
  const auto fault = [&options](const char* name, std::int64_t& call, const char* help) {
    options.custom(name, "N", "", help,
                   [&call](std::string_view given) { call = apps::parse_integer(given, 0, most); });
  };
  fault("spoil", s.spoil, "to see that faults are found: change a byte of call N's result on the last rank");
  fault("hang", s.hang, "likewise: stop on the last rank before call N");
  options.custom("keep", "SIZE", "", "likewise: keep so much more memory, and one more descriptor, after each round",
                 [&s](std::string_view given) { s.keep = apps::parse_bytes(given); });
}

/// Options that a repetition has anew.
constexpr std::string_view replaced[] = {"--seed", "--from-call", "--seconds", "--calls", "--report", "--json"};

}  // namespace

apps::Options options_for(Settings& settings) {
  apps::Options options{
      "tutti-soak",
      "Makes random calls for a given time, checks every result, and watches memory and descriptors: run it under\n"
      "mpirun. The exit code is 1 if a result was wrong, a call failed or hung, or memory or descriptors grew without\n"
      "bound.\n\nExample: mpirun -n 4 tutti-soak --seconds 3600 --threads 2"};
  options.made_of(components);
  add_length_options(options, settings);
  add_call_options(options, settings);
  add_report_options(options, settings);
  add_fault_options(options, settings);
  return options;
}

void require_consistent(const Settings& settings) {
  if (settings.seconds && settings.calls) throw InputError("--seconds and --calls exclude each other");
  if (settings.from_call > 0 && !settings.seed)
    throw InputError("--from-call needs --seed: its calls are those of a certain seed");
}

Repertoire repertoire_of(const Settings& settings) {
  const auto places = [](const std::vector<std::string>& given, const std::vector<std::string>& all) {
    std::vector<int> found;
    for (const std::string& name : given.empty() ? all : given)
      found.push_back(static_cast<int>(std::ranges::find(all, name) - all.begin()));
    return found;
  };
  Repertoire repertoire{.names = places(settings.collectives, call_names()),
                        .ways = {},
                        .most_bytes = settings.most_bytes.value(),
                        .asks_mpi = settings.compare == "mpi"};
  for (const int way : places(settings.modes, mode_names()))
    repertoire.ways.push_back(static_cast<Way>(way));
  return repertoire;
}

std::vector<const bench::BenchMemory*> memories_of(const Settings& settings) {
  std::vector<const bench::BenchMemory*> chosen;
  for (const std::string& name : settings.memories)
    chosen.push_back(&*std::ranges::find(bench::memories(), name, &bench::BenchMemory::name));
  return chosen;
}

std::string repeat_command(const std::vector<std::string>& arguments, std::uint64_t seed, std::int64_t from_call,
                           std::int64_t end, int ranks) {
  std::string command;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::string_view{*variable}.starts_with("TUTTI_")) command += fmt::format("{} ", *variable);
  command += fmt::format("mpirun -n {} tutti-soak", ranks);
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view name = std::string_view{arguments[i]}.substr(0, arguments[i].find('='));
    if (std::ranges::find(replaced, name) == std::end(replaced))
      command += ' ' + arguments[i];
    else if (name == arguments[i])
      ++i;  // and its value
  }
  return command + fmt::format(" --seed {} --from-call {} --calls {}", seed, from_call, end - from_call);
}

}  // namespace tutti::soak
