#include "apps/bench/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "apps/bench/mpi_names.hpp"
#include "apps/bench/sweep.hpp"
#include "lib/schedule/choice.hpp"
#include "lib/schedule/near_names.hpp"

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

std::string_view collective_name(const BenchCollective* entry) { return entry->name; }

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

/// Names of collectives, or "all".
std::vector<std::string> parse_collectives(std::string_view given) {
  std::vector<std::string> all = names_of(collectives(), collective_name);
  if (given == "all") return all;
  std::vector<std::string> chosen = apps::split_list(given);
  for (const std::string& name : chosen) {
    if (collective_named(name) != nullptr) continue;
    throw InputError(fmt::format("'{}' is none of: all, {}{}", name, fmt::join(all, ", "), suggestion(name, all)));
  }
  return chosen;
}

void add_collective_option(apps::Options& options, Settings& s) {
  const std::string help = fmt::format("what is measured, separated by commas, or all: {}",
                                       fmt::join(names_of(collectives(), collective_name), ", "));
  options.custom("collective", "LIST", fmt::format("{}", fmt::join(s.collectives, ",")), help,
                 [&s](std::string_view given) { s.collectives = parse_collectives(given); });
}

void add_call_options(apps::Options& options, Settings& s) {
  options.choice("type", s.type, names_of(all_types(), [](Type type) { return to_string(type); }), "element type");
  options.choice("op", s.op, names_of(op_names), "operation; scaled_sum is half the sum");
  options.integer("root", s.root, 0, INT_MAX, "root rank of collectives that have one");
  options.text("algorithm", s.algorithm, "NAME",
               "NAME[:PARAMETER][/SEGMENT]: algorithm; auto: Tutti chooses; each: all there are, in turns");
  options.choice("transport", s.transport, names_of(transport_names),
                 "what messages travel through; auto: what TUTTI_TRANSPORT says, or else Tutti chooses");
  options.choice("memory", s.memory, names_of(memories(), [](const BenchMemory& memory) { return memory.name; }),
                 "where the buffers are; tutti: what tutti::allocate gives; pinned, managed, device: what the CUDA "
                 "driver gives, on the device local rank % devices; the table then has what a call moves between "
                 "host and device");
  options.choice("mode", s.mode, names_of(mode_names),
                 "how calls are made; stream: put into a stream of the device, whose end is waited for once after the "
                 "calls of a round; with --memory device");
  options.choice("placement", s.placement, names_of(placement_names), "out of place, in place");
}

void add_protocol_options(apps::Options& options, Settings& s) {
  options.custom("iters", "N", "as many as fill 4 ms", "calls in a round",
                 [&s](std::string_view given) { s.iters = static_cast<int>(apps::parse_integer(given, 1, INT_MAX)); });
  options.integer("warmup", s.warmup, 0, 1'000'000, "rounds before those that count");
  options.integer("rounds", s.rounds, 1, 1'000'000, "rounds; min, median and max are over these");
  options.flag("check", s.is_checked, "check the result of one more call at each size");
  options.flag("touch", s.is_touched, "rewrite the input before each call, untimed");
  options.choice("calls", s.calls, {"tutti", "mpi"},
                 "whose calls are measured; mpi: plain MPI_ calls, as libtutti_mpi.so serves them if it is preloaded");
  options.choice("compare", s.compare, {"none", "mpi"}, "measure the MPI's own call too, round by round in turns");
  options.flag(
      "limits", s.has_limits,
      "measure what the machine permits too, in turns with the rest, and show the share of it that is reached: "
      "limit = exchange of a cache line + copy of what is published + read of what others have just written "
      "(or reduction of it, if longer); mapped = allreduce on memory that all ranks map. One node, 2 ranks "
      "or more");
  // Not --tune: the mpirun of Open MPI 4 takes that for its own, wherever it stands.
  options.flag("thresholds", s.has_thresholds,
               "measure what the library's thresholds for buffers on devices decide between, in turns, and show for "
               "each threshold its value today and the value measured; with --memory device");
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

std::vector<std::string> algorithms_of(Collective collective) {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective == collective) names.emplace_back(algorithm->name);
  }
  return names;
}

std::vector<std::string> algorithms_named(const std::string& asked, const BenchCollective& collective) {
  if (asked == "auto" || (asked == "each" && !collective.collective)) return {""};
  if (!collective.collective) {
    throw InputError(fmt::format("--algorithm: {} has none: '{}' is none of: auto, each", collective.name, asked));
  }
  const Collective kind = *collective.collective;
  std::vector<std::string> all = algorithms_of(kind);
  if (asked == "each") return all;
  const std::string name = asked.substr(0, asked.find_first_of(":/"));
  if (find_algorithm(kind, name) == nullptr) {
    throw InputError(fmt::format("--algorithm: for {}, '{}' is none of: auto, each, {}{}", collective.name, asked,
                                 fmt::join(all, ", "), suggestion(name, all)));
  }
  try {
    static_cast<void>(read_choice(kind, asked));
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("--algorithm: {}", error.what()));
  }
  return {asked};
}

void require_operation(const Settings& s, const BenchCollective& collective, Type type, const Op& op) {
  if (!collective.reduces()) return;
  if (!supports(op.kind(), type)) {
    throw InputError(
        fmt::format("--op {} is not defined for --type {}, only for: {}", s.op, s.type, supported_types(op.kind())));
  }
  const bool is_prefix = collective.collective == Collective::scan || collective.collective == Collective::exscan;
  if (is_prefix && op.kind() == Op::Kind::avg) {
    throw InputError(fmt::format("--op avg is not defined for {}: the ranks that take part differ", collective.name));
  }
  if ((s.compare == "mpi" || s.calls == "mpi") && !(mpi_type(type) && mpi_op(op.kind()))) {
    throw InputError(fmt::format("--{} mpi: MPI has no {} of {} (it lacks fp8, fp16, bf16, avg and scaled_sum)",
                                 s.calls == "mpi" ? "calls" : "compare", s.op, s.type));
  }
}

/// Those asked for that the collective has; if it has none of them, those that it has.
std::vector<Placement> placements_of(const Settings& s, const BenchCollective& collective) {
  if (!collective.has_in_place) return {Placement::out_of_place};
  if (!collective.has_out_of_place) return {Placement::in_place};
  return placements_named(s.placement);
}

/// Elements of the larger buffer: where it is divided, at least one for each rank and a multiple of that.
std::vector<Count> sizes_of(const Settings& s, const BenchCollective& collective, Type type, int ranks) {
  if (!collective.has_data) return {Count{0}};
  const int parts = collective.divided == Divided::not_at_all ? 1 : ranks;
  std::vector<Count> counts = sweep(s.min, s.max, s.factor, parts * size_of(type));
  for (Count& count : counts) {
    count = parts * count;
  }
  return counts;
}

/// Those that were asked for; of all, those that have calls in the mode.
std::vector<std::string> collectives_in_mode(const Settings& s) {
  std::vector<std::string> names = s.collectives;
  if (s.mode != to_string(Mode::stream)) return names;
  if (s.memory != "device") {
    throw InputError(fmt::format(
        "--mode stream puts calls into a stream of the device: --memory is '{}', allowed: device", s.memory));
  }
  const auto has_none = [](const std::string& name) { return !collective_named(name)->has_stream_calls; };
  const auto found = std::find_if(names.begin(), names.end(), has_none);
  if (found != names.end() && names.size() < collectives().size()) {
    throw InputError(fmt::format("--mode stream: {} takes no stream", *found));
  }
  names.erase(std::remove_if(names.begin(), names.end(), has_none), names.end());
  return names;
}

/// Options that must not be given beside another one: each with whether it is as by default.
using PlainOptions = std::initializer_list<std::pair<bool, std::string_view>>;
void require_plain(std::string_view why, PlainOptions options) {
  for (const auto& [is_plain, option] : options)
    if (!is_plain) throw InputError(fmt::format("{}: not with {}", why, option));
}

/// --thresholds chooses by itself what is measured.
void require_thresholds_exist(const Settings& s) {
  if (s.memory != "device") {
    throw InputError(
        fmt::format("--thresholds measures those for buffers on devices: --memory is '{}', allowed: device", s.memory));
  }
  const Settings plain;
  require_plain("--thresholds chooses the calls by itself", {{s.collectives == plain.collectives, "--collective"},
                                                             {s.algorithm == plain.algorithm, "--algorithm"},
                                                             {s.placement == plain.placement, "--placement"},
                                                             {s.calls == plain.calls, "--calls"},
                                                             {s.compare == plain.compare, "--compare"},
                                                             {!s.is_checked, "--check"},
                                                             {s.csv.empty(), "--csv"}});
}

/// MPI's calls have neither algorithms nor streams, and nothing to be compared with.
void require_mpi_alone(const Settings& s) {
  const Settings plain;
  require_plain("--calls mpi measures MPI's calls alone", {{s.algorithm == plain.algorithm, "--algorithm"},
                                                           {s.compare == plain.compare, "--compare"},
                                                           {s.mode != to_string(Mode::stream), "--mode stream"},
                                                           {!s.has_limits, "--limits"},
                                                           {s.memory == plain.memory, "--memory"}});
}

std::string transport_by_default() {
  const char* const set = std::getenv(transport_variable);
  return set == nullptr || *set == '\0' ? "auto" : set;
}

}  // namespace

void choose_transport(const Settings& settings) {
  if (settings.transport != "auto") setenv(transport_variable, settings.transport.c_str(), 1);
}

std::vector<Placement> placements_named(std::string_view name) {
  if (name == "out") return {Placement::out_of_place};
  if (name == "in") return {Placement::in_place};
  return {Placement::out_of_place, Placement::in_place};
}

apps::Options options_for(Settings& settings) {
  apps::Options options{"tutti-bench", "Measures collectives: run it under mpirun."};
  options.made_of(components);
  add_collective_option(options, settings);
  add_size_options(options, settings);
  add_call_options(options, settings);
  add_protocol_options(options, settings);
  return options;
}

std::vector<Experiment> resolved(const Settings& s, int ranks) {
  const Type type = named(all_types(), s.type, [](Type each) { return to_string(each); });
  const Op op = *op_named(s.op);
  require_sizes(s, type);
  const BenchMemory& memory = named(memories(), s.memory, [](const BenchMemory& each) { return each.name; });
  if (s.has_limits && memory.needs_driver()) {
    throw InputError(fmt::format("--limits are those of the host's memory: not with --memory {}", s.memory));
  }
  if (s.has_thresholds) require_thresholds_exist(s);
  if (s.calls == "mpi") require_mpi_alone(s);
  if (s.root >= ranks) {
    throw InputError(fmt::format("--root {} is not a rank: there are {}, from 0 to {}", s.root, ranks, ranks - 1));
  }
  if (!s.json.empty() && s.json == s.csv) throw InputError("--json and --csv name the same file");
  const auto mode = std::find(std::begin(mode_names), std::end(mode_names), s.mode) - std::begin(mode_names);
  std::vector<Experiment> experiments;
  for (const std::string& name : collectives_in_mode(s)) {
    const BenchCollective& collective = *collective_named(name);
    require_operation(s, collective, type, op);
    experiments.push_back({.collective = &collective,
                           .memory = &memory,
                           .mode = static_cast<Mode>(mode),
                           .type = type,
                           .op = op,
                           .root = Rank{s.root},
                           .algorithms = algorithms_named(s.algorithm, collective),
                           .transport = s.transport == "auto" ? transport_by_default() : s.transport,
                           .placements = placements_of(s, collective),
                           .counts = sizes_of(s, collective, type, ranks)});
  }
  return experiments;
}

}  // namespace tutti::bench
