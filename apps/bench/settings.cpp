#include "apps/bench/settings.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>

namespace tutti::bench {

namespace {

using apps::InputError;

constexpr std::string_view placement_names[] = {"out", "in", "both"};
constexpr std::string_view transport_names[] = {"auto", "shm", "mpi", "ucx", "shm+ucx"};
/// Where the library looks.
constexpr const char* transport_variable = "TUTTI_TRANSPORT";

template <class Items, class Name>
std::vector<std::string> names_of(const Items& items, Name name) {
  std::vector<std::string> names;
  names.reserve(std::size(items));
  for (const auto& item : items) {
    names.emplace_back(name(item));
  }
  return names;
}

std::vector<std::string> names_of(const auto& names) { return {std::begin(names), std::end(names)}; }

std::string_view collective_name(const BenchCollective& entry) { return entry.name; }

void add_size_options(apps::Options& options, Settings& s) {
  const auto size = [&options, &s](const char* name, Bytes& value, const char* shown, const char* help) {
    options.custom(name, "SIZE", shown, help, [&value, &s](std::string_view given) {
      value = apps::parse_bytes(given);
      if (value < Bytes{1}) throw InputError("the size must be at least 1");
      s.has_range = true;
      if (&value == &s.max) s.has_max = true;
    });
  };
  size("min", s.min, "8", "smallest size in bytes, or with K, M, G: 8, 64K, 1M");
  size("max", s.max, "8M", "largest size");
  options.custom("factor", "N", "2", "each size is this many times the one before", [&s](std::string_view given) {
    s.factor = static_cast<int>(apps::parse_integer(given, 2, INT_MAX));
    s.has_range = true;
  });
  options.custom("sizes", "SIZE,...", "", "these sizes, instead of --min, --max and --factor",
                 [&s](std::string_view given) {
                   for (const std::string& item : apps::split_list(given)) {
                     s.sizes.push_back(apps::parse_bytes(item));
                     if (s.sizes.back() < Bytes{1}) throw InputError("a size must be at least 1");
                   }
                 });
  options.custom("ranks", "N,N,...", "all", "numbers of ranks that measure, one after the other; the others sleep",
                 [&s](std::string_view given) {
                   for (const std::string& item : apps::split_list(given))
                     s.ranks.push_back(static_cast<int>(apps::parse_integer(item, 1, INT_MAX)));
                 });
}

void add_call_options(apps::Options& options, Settings& s) {
  options.choice("type", s.type, names_of(all_types(), [](Type type) { return to_string(type); }), "element type");
  options.choice("op", s.op, names_of(op_names), "operation; scaled_sum is half the sum");
  options.choice("accumulate", s.accumulate, {"none", "fp32", "fp64"},
                 "a wider type in which sums and averages are added, to be rounded once; --compare default compares "
                 "with calls without it");
  options.integer("root", s.root, 0, INT_MAX, "root rank of collectives that have one");
  options.custom("list", "N", "", "each call has a list of N buffers of the size (docs/bench.md)",
                 [&s](std::string_view given) { s.list = static_cast<int>(apps::parse_integer(given, 1, 100'000)); });
  options.custom(
      "algorithm", "LIST", "auto",
      "algorithms, in turns: NAME[:PARAMETER][/SEGMENT], separated by commas; auto: Tutti chooses; each: all "
      "there are, and those that Tutti chooses at these sizes. The best at each size is told at the end",
      [&s](std::string_view given) { s.algorithms = apps::split_list(given); });
  options.choice("transport", s.transport, names_of(transport_names),
                 "what messages travel through; auto: what TUTTI_TRANSPORT says, or else Tutti chooses");
  options.choice("memory", s.memory, names_of(memories(), [](const BenchMemory& memory) { return memory.name; }),
                 "where the buffers are; tutti: what tutti::allocate gives; pinned, managed, device: what the CUDA "
                 "driver gives, on the device local rank % devices; the table then has what a call moves between "
                 "host and device");
  options.choice("mode", s.mode, names_of(mode_names),
                 "how calls are made; stream: put into a stream of the device, whose end is waited for once after the "
                 "calls of a round; stream-plan: the same of a plan; with --memory device");
  options.choice("placement", s.placement, names_of(placement_names), "out of place, in place");
}

void add_protocol_options(apps::Options& options, Settings& s) {
  options.custom("iters", "N", "as many as fill 4 ms", "calls in a round",
                 [&s](std::string_view given) { s.iters = static_cast<int>(apps::parse_integer(given, 1, INT_MAX)); });
  options.integer("warmup", s.warmup, 0, 1'000'000, "rounds before those that count");
  options.integer("rounds", s.rounds, 1, 1'000'000, "rounds; p10, median and p90 are over these");
  options.flag("check", s.is_checked, "check the result of one more call at each size");
  options.flag("touch", s.is_touched, "rewrite the input before each call, untimed");
  options.choice("calls", s.calls, {"tutti", "mpi"},
                 "whose calls are measured; mpi: plain MPI_ calls, as libtutti_mpi.so serves them if it is preloaded");
  options.choice(
      "compare", s.compare, {"none", "mpi", "default", "calls"},
      "measure another call too, round by round in turns; mpi: the MPI's own; default: Tutti's by the built-in "
      "rules and in the usual order, whatever rules and TUTTI_BITS say for the other; sums where that makes exact "
      "ones; calls: with --list, Tutti's ordinary call on each buffer");
  options.text("rules", s.rules, "FILE",
               "the file of rules by which Tutti chooses, or none; else what TUTTI_RULES says (docs/rules.md)");
  options.flag("overlap", s.is_overlapped,
               "measure how much of a nonblocking call's time computation hides: pure communication, computation of "
               "the same length, both at once; calls are nonblocking, or persistent with --mode persistent");
  options.flag("pairs", s.has_pairs,
               "measure latency, bandwidth and rate of messages of every pair of ranks, instead of collectives: short "
               "messages of --min (8) bytes, long ones of --max (1M)");
  options.text("fit", s.fit, "FILE", "measure as --pairs does, and write rates for tutti simulate --rates");
  options.text("json", s.json, "FILE", "write the results as JSON");
  options.text("csv", s.csv, "FILE", "write the results as CSV");
}

}  // namespace

void choose_transport(const Settings& settings) {
  if (settings.transport != "auto") setenv(transport_variable, settings.transport.c_str(), 1);
}

Mode mode_of(const Settings& settings) {
  const auto* const found = std::find(std::begin(mode_names), std::end(mode_names), settings.mode);
  const auto mode = static_cast<Mode>(found - std::begin(mode_names));
  return settings.is_overlapped && mode == Mode::blocking ? Mode::nonblocking : mode;
}

std::vector<Type> all_types() {
  std::vector<Type> types;
  types.reserve(type_count);
  for (int i = 0; i < type_count; ++i) {
    types.push_back(static_cast<Type>(i));
  }
  return types;
}

std::string transport_of(const Settings& settings) {
  if (settings.transport != "auto") return settings.transport;
  const char* const set = std::getenv(transport_variable);
  return set == nullptr || *set == '\0' ? "auto" : set;
}

std::vector<Placement> placements_named(std::string_view name) {
  if (name == "out") return {Placement::out_of_place};
  if (name == "in") return {Placement::in_place};
  return {Placement::out_of_place, Placement::in_place};
}

apps::Options options_for(Settings& settings) {
  apps::Options options{"tutti-bench", "Measures collectives: run it under mpirun."};
  options.made_of(components);
  options.names("collective", settings.collectives, names_of(collectives(), collective_name),
                "what is measured, separated by commas");
  add_size_options(options, settings);
  add_call_options(options, settings);
  add_protocol_options(options, settings);
  return options;
}

}  // namespace tutti::bench
