#include "apps/bench/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "apps/bench/sweep.hpp"

namespace tutti::bench {

namespace {

using apps::InputError;

constexpr std::string_view placement_names[] = {"out", "in", "both"};
// Tutti has one transport so far; "auto" leaves the choice to it.
constexpr std::string_view transport_names[] = {"auto", "mpi"};

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

std::string_view collective_name(const BenchCollective* entry) { return to_string(entry->collective); }

std::vector<Type> all_types() {
  std::vector<Type> types;
  types.reserve(type_count);
  for (int i = 0; i < type_count; ++i) {
    types.push_back(static_cast<Type>(i));
  }
  return types;
}

/// The item of that name, which the option has already compared with all names.
template <class Items, class Name>
const auto& named(const Items& items, std::string_view wanted, Name name) {
  return *std::find_if(std::begin(items), std::end(items), [&](const auto& item) { return name(item) == wanted; });
}

void add_size_options(apps::Options& options, Settings& s) {
  const auto size = [&options](const char* name, Bytes& value, const char* shown, const char* help) {
    options.custom(name, "SIZE", shown, help, [&value](std::string_view given) {
      value = apps::parse_bytes(given);
      if (value < Bytes{1}) throw InputError("the size must be at least 1");
    });
  };
  size("min", s.min, "8", "smallest size in bytes, or with K, M, G: 8, 64K, 1M");
  size("max", s.max, "8M", "largest size");
  options.integer("factor", s.factor, 2, INT_MAX, "each size is this many times the one before");
}

void add_call_options(apps::Options& options, Settings& s) {
  options.choice("type", s.type, names_of(all_types(), [](Type type) { return to_string(type); }), "element type");
  options.choice("op", s.op, names_of(op_names), "operation; scaled_sum is half the sum");
  options.integer("root", s.root, 0, INT_MAX, "root rank of collectives that have one");
  options.text("algorithm", s.algorithm, "NAME", "algorithm; auto: Tutti chooses");
  options.choice("transport", s.transport, names_of(transport_names), "what messages travel through");
  options.choice("memory", s.memory, names_of(memories(), [](const BenchMemory& memory) { return memory.name; }),
                 "where the buffers are");
  options.choice("mode", s.mode, names_of(mode_names), "how calls are made");
  options.choice("placement", s.placement, names_of(placement_names), "out of place, in place");
}

void add_protocol_options(apps::Options& options, Settings& s) {
  options.custom("iters", "N", "as many as fill 4 ms", "calls in a round",
                 [&s](std::string_view given) { s.iters = static_cast<int>(apps::parse_integer(given, 1, INT_MAX)); });
  options.integer("warmup", s.warmup, 0, 1'000'000, "rounds before those that count");
  options.integer("rounds", s.rounds, 1, 1'000'000, "rounds; min, median and max are over these");
  options.flag("check", s.is_checked, "check the result of one more call at each size");
  options.flag("touch", s.is_touched, "rewrite the input before each call, untimed");
  options.choice("compare", s.compare, {"none", "mpi"}, "measure the MPI's own call too, round by round in turns");
  options.text("json", s.json, "FILE", "write the results as JSON");
  options.text("csv", s.csv, "FILE", "write the results as CSV");
}

void require_sizes(const Settings& s, Type type) {
  if (s.min > s.max) {
    throw InputError(fmt::format("--min {} is larger than --max {}", s.min.value(), s.max.value()));
  }
  if (s.max < size_of(type)) {
    throw InputError(
        fmt::format("--max {} is smaller than one {} of {} bytes", s.max.value(), s.type, size_of(type).value()));
  }
}

void require_algorithm(const Settings& s, Collective collective) {
  if (s.algorithm != "auto" && find_algorithm(collective, s.algorithm) == nullptr) {
    throw InputError(fmt::format("--algorithm: '{}' is none of: auto, {}", s.algorithm, algorithm_names(collective)));
  }
}

void require_operation(const Settings& s, const BenchCollective& collective, Type type, const Op& op) {
  if (!supports(op.kind(), type)) {
    throw InputError(
        fmt::format("--op {} is not defined for --type {}, only for: {}", s.op, s.type, supported_types(op.kind())));
  }
  if (s.compare == "mpi" && !collective.peer_has(type, op)) {
    throw InputError(
        fmt::format("--compare mpi: MPI has no {} of {} (it lacks fp16, bf16, avg and scaled_sum)", s.op, s.type));
  }
}

std::vector<Placement> placements(std::string_view name) {
  if (name == "out") return {Placement::out_of_place};
  if (name == "in") return {Placement::in_place};
  return {Placement::out_of_place, Placement::in_place};
}

}  // namespace

apps::Options options_for(Settings& settings) {
  apps::Options options{"tutti-bench", "Measures collectives: run it under mpirun."};
  options.choice("collective", settings.collective, names_of(collectives(), collective_name), "what is measured");
  add_size_options(options, settings);
  add_call_options(options, settings);
  add_protocol_options(options, settings);
  return options;
}

Experiment resolved(const Settings& s, int ranks) {
  const BenchCollective& collective = *named(collectives(), s.collective, collective_name);
  const Type type = named(all_types(), s.type, [](Type each) { return to_string(each); });
  const Op op = *op_named(s.op);
  require_sizes(s, type);
  if (s.root >= ranks) {
    throw InputError(fmt::format("--root {} is not a rank: there are {}, from 0 to {}", s.root, ranks, ranks - 1));
  }
  require_algorithm(s, collective.collective);
  require_operation(s, collective, type, op);
  if (!s.json.empty() && s.json == s.csv) throw InputError("--json and --csv name the same file");
  const auto mode = std::find(std::begin(mode_names), std::end(mode_names), s.mode) - std::begin(mode_names);
  return {.collective = &collective,
          .memory = &named(memories(), s.memory, [](const BenchMemory& memory) { return memory.name; }),
          .mode = static_cast<Mode>(mode),
          .type = type,
          .op = op,
          .root = Rank{s.root},
          .algorithm = s.algorithm == "auto" ? "" : s.algorithm,
          .transport = "mpi",
          .placements = placements(s.placement),
          .counts = sweep(s.min, s.max, s.factor, size_of(type))};
}

}  // namespace tutti::bench
