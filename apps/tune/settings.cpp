#include "apps/tune/settings.hpp"

#include "apps/bench/collective.hpp"

namespace tutti::tune {
namespace {

/// Those that have algorithms to choose.
std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  for (const bench::BenchCollective& each : bench::collectives())
    if (each.collective) names.emplace_back(each.name);
  return names;
}

}  // namespace

std::vector<std::string> measured_collectives(const Settings& settings) {
  return settings.collectives.empty() ? collective_names() : settings.collectives;
}

apps::Options options_for(Settings& s) {
  apps::Options options{
      "tutti tune",
      "Measures which algorithms are the fastest here, and writes a file of rules: run it under mpirun, on as many\n"
      "ranks and nodes as programs use.\n"
      "    mpirun -n 8 tutti tune --write rules.json --budget 10\n"
      "    TUTTI_RULES=rules.json mpirun -n 8 ./program"};
  options.made_of(components);
  options.text("write", s.write, "FILE", "the file of rules; what was measured so far is in FILE.partial");
  options.number("budget", s.budget, 0.01, 100'000, "minutes that the run may take");
  options.names("collective", s.collectives, collective_names(), "what is measured, separated by commas");
  options.names("memory", s.memories, {"host", "tutti", "device"},
                "the kinds of memory of the buffers; device: needs a GPU for each rank");
  options.names("mode", s.modes, {"blocking", "nonblocking", "persistent"},
                "how calls are made; the rules of one mode alone hold for all");
  options.names("communicator", s.communicators, {"world", "node", "leaders"},
                "the ranks that are measured: all, those of one node, one of each node");
  const auto size = [&options](const char* name, Bytes& value, const char* shown, const char* help) {
    options.custom(name, "SIZE", shown, help, [&value](std::string_view given) {
      value = apps::parse_bytes(given);
      if (value < Bytes{1}) throw apps::InputError("the size must be at least 1");
    });
  };
  size("min", s.min, "8", "smallest size in bytes, or with K, M, G");
  size("max", s.max, "8M", "largest size; for more than twice as much the built-in rules stay");
  options.flag("resume", s.resumes, "go on with what an interrupted run has left in FILE.partial");
  options.flag("add", s.adds, "keep the rules of FILE that are for other communicators, memory or modes");
  options.flag("exact", s.is_exact, "rules for these numbers of ranks and nodes alone; else up to half as many more");
  options.flag("transport", s.has_transport, "measure constants of transports, too, before the algorithms");
  return options;
}

void require_consistent(const Settings& s) {
  if (s.write.empty()) throw apps::InputError("--write FILE is needed: where the rules go");
  if (s.min > s.max)
    throw apps::InputError("--min " + std::to_string(s.min.value()) + " is larger than --max " +
                           std::to_string(s.max.value()));
}

}  // namespace tutti::tune
