// What the options ask for, as experiments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include "apps/bench/calls.hpp"
#include "apps/bench/settings.hpp"
#include "lib/core/schedule/choice.hpp"
#include "lib/core/schedule/near_names.hpp"

namespace tutti::bench {

namespace {

using apps::InputError;

/// The item of that name, which the option has already compared with all names.
template <class Items, class Name>
const auto& named(const Items& items, std::string_view wanted, Name name) {
  return *std::find_if(std::begin(items), std::end(items), [&](const auto& item) { return name(item) == wanted; });
}

void require_sizes(const Settings& s, Type type) {
  for (const Bytes size : s.sizes) {
    if (size < size_of(type))
      throw InputError(
          fmt::format("--sizes: {} is smaller than one {} of {} bytes", size.value(), s.type, size_of(type).value()));
  }
  if (!s.sizes.empty() && s.has_range) throw InputError("--sizes: not with --min, --max or --factor");
  if (!s.sizes.empty()) return;
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

void require_algorithm(const std::string& asked, const BenchCollective& collective) {
  if (!collective.collective) {
    throw InputError(fmt::format("--algorithm: {} has none: '{}' is none of: auto, each", collective.name, asked));
  }
  const Collective kind = *collective.collective;
  if (asked.starts_with(file_prefix)) return;  // which rank 0 reads and judges
  const std::vector<std::string> all = algorithms_of(kind);
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
}

/// Without those that Tutti chooses, which depend on the communicator. None comes twice.
std::vector<std::string> algorithms_named(const std::vector<std::string>& asked, const BenchCollective& collective) {
  std::vector<std::string> names;
  const auto add = [&names](std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  };
  for (const std::string& each : asked) {
    if (each == "auto" || (each == "each" && !collective.collective)) {
      add("");
    } else if (each == "each") {
      for (std::string& name : algorithms_of(*collective.collective))
        add(std::move(name));
    } else {
      require_algorithm(each, collective);
      add(each);
    }
  }
  return names;
}

/// "fp32" or "fp64"; nothing for "none".
std::optional<Type> accumulate_of(const Settings& s) {
  for (const Type wide : {Type::fp32, Type::fp64})
    if (s.accumulate == to_string(wide)) return wide;
  return std::nullopt;
}

void require_operation(const Settings& s, const BenchCollective& collective, Type type, const Op& op) {
  if (!collective.reduces()) return;
  if (!supports(op.kind(), type)) {
    throw InputError(
        fmt::format("--op {} is not defined for --type {}, only for: {}", s.op, s.type, supported_types(op.kind())));
  }
  if (const std::optional<Type> wide = accumulate_of(s);
      wide && (!accumulates(type, *wide) || (op != Op::sum && op != Op::avg))) {
    throw InputError(
        fmt::format("--accumulate {} is not for --op {} of --type {}, only for sum and avg of narrower types",
                    s.accumulate, s.op, s.type));
  }
  if (collective.is_prefix() && op.kind() == Op::Kind::avg) {
    throw InputError(fmt::format("--op avg is not defined for {}: the ranks that take part differ", collective.name));
  }
  if ((s.compare == "mpi" || s.calls == "mpi") && !(mpi_type(type) && mpi_op(op.kind()))) {
    throw InputError(
        fmt::format("--{} mpi: MPI has no {} of {} (it lacks fp8, fp16, bf16, avg, exact_sum and scaled_sum)",
                    s.calls == "mpi" ? "calls" : "compare", s.op, s.type));
  }
}

/// The placements asked for; the one that the collective has, if it has only one.
std::vector<Placement> placements_of(const Settings& s, const BenchCollective& collective) {
  std::vector<Placement> all = collective.placements();
  return all.size() == 1 ? all : placements_named(s.placement);
}

/// Elements of the larger buffer: where it is divided, at least one for each rank and a multiple of that.
std::vector<Count> sizes_of(const Settings& s, const BenchCollective& collective, Type type, int ranks) {
  if (!collective.has_data()) return {Count{0}};
  const int parts = collective.divided == Divided::not_at_all ? 1 : ranks;
  const Bytes part = parts * size_of(type);
  std::vector<Count> counts = s.sizes.empty() ? sweep(s.min, s.max, s.factor, part) : counts_of(s.sizes, part);
  for (Count& count : counts) {
    count = parts * count;
  }
  return counts;
}

/// The collectives that were asked for; of all, those that have calls in the mode.
std::vector<std::string> collectives_in_mode(const Settings& s) {
  std::vector<std::string> names = s.collectives;
  if (!is_in_stream(s.mode)) return names;
  if (s.memory != "device") {
    throw InputError(fmt::format("--mode {} puts calls into a stream of the device: --memory is '{}', allowed: device",
                                 s.mode, s.memory));
  }
  const auto has_none = [](const std::string& name) { return !collective_named(name)->has_stream_calls(); };
  const auto found = std::find_if(names.begin(), names.end(), has_none);
  if (found != names.end() && names.size() < collectives().size()) {
    throw InputError(fmt::format("--mode {}: {} takes no stream", s.mode, *found));
  }
  names.erase(std::remove_if(names.begin(), names.end(), has_none), names.end());
  return names;
}

/// Options that must not be given beside another one: each with whether it is as by default.
using PlainOptions = std::initializer_list<std::pair<bool, std::string>>;
void require_plain(std::string_view why, PlainOptions options) {
  for (const auto& [is_plain, option] : options)
    if (!is_plain) throw InputError(fmt::format("{}: not with {}", why, option));
}

/// MPI's calls have neither algorithms nor streams, and nothing to be compared with.
void require_mpi_alone(const Settings& s) {
  const Settings plain;
  require_plain("--calls mpi measures MPI's calls alone", {{s.algorithms == plain.algorithms, "--algorithm"},
                                                           {s.compare == plain.compare, "--compare"},
                                                           {!is_in_stream(s.mode), "--mode " + s.mode},
                                                           {s.memory == plain.memory, "--memory"},
                                                           {!s.is_overlapped, "--overlap"}});
}

/// --overlap needs calls that return before they are over.
void require_overlap(const Settings& s) {
  require_plain("--overlap measures calls beside computation",
                {{!is_in_stream(s.mode), "--mode " + s.mode}, {!s.is_touched, "--touch"}});
}

/// --pairs measures messages, of the host's memory.
void require_pairs(const Settings& s) {
  const Settings plain;
  require_plain(
      s.fit.empty() ? "--pairs measures messages between two ranks" : "--fit measures messages between two ranks",
      {{s.collectives == plain.collectives, "--collective"},
       {s.algorithms == plain.algorithms, "--algorithm"},
       {s.placement == plain.placement, "--placement"},
       {s.list == plain.list, "--list"},
       {s.calls == plain.calls, "--calls"},
       {s.compare == plain.compare, "--compare"},
       {s.memory == plain.memory, "--memory"},
       {s.mode == plain.mode, "--mode"},
       {s.sizes.empty(), "--sizes"},
       {s.ranks.empty(), "--ranks"},
       {!s.is_overlapped, "--overlap"},
       {!s.is_checked, "--check"},
       {!s.is_touched, "--touch"},
       {s.csv.empty(), "--csv"}});
}

/// --list: collectives that have calls of lists, in modes that lists have.
void require_lists(const Settings& s, const BenchCollective& collective) {
  using enum Collective;
  if (s.list == 0 && s.compare == "calls") throw InputError("--compare calls: only with --list");
  if (s.list == 0) return;
  const std::initializer_list<Collective> all{broadcast, allreduce, reduce_scatter, allgather};
  const bool is_even = collective.divided == Divided::not_at_all || collective.divided == Divided::evenly;
  if (!is_even || !collective.collective || std::find(all.begin(), all.end(), *collective.collective) == all.end())
    throw InputError(fmt::format("--list: {} takes no list; allowed: broadcast, allreduce, reduce_scatter, allgather",
                                 collective.name));
  require_plain("--list measures calls of lists", {{s.mode != to_string(Mode::stream_plan), "--mode " + s.mode},
                                                   {s.calls == "tutti", "--calls " + s.calls}});
}

bool has_each(const Settings& s) {
  return std::find(s.algorithms.begin(), s.algorithms.end(), "each") != s.algorithms.end();
}

}  // namespace

std::vector<Count> counts_of(std::vector<Bytes> sizes, Bytes element) {
  std::sort(sizes.begin(), sizes.end());
  std::vector<Count> counts;
  for (const Bytes size : sizes) {
    const Count count{std::max<std::int64_t>(1, size.value() / element.value())};
    if (counts.empty() || counts.back() != count) counts.push_back(count);
  }
  return counts;
}

std::vector<Count> sweep(Bytes least, Bytes most, int factor, Bytes element) {
  std::vector<Count> counts;
  for (std::int64_t size = least.value();; size *= factor) {
    const Count count{std::max<std::int64_t>(1, size / element.value())};
    if (counts.empty() || counts.back() != count) counts.push_back(count);
    if (size > most.value() / factor) return counts;
  }
}

std::vector<Experiment> resolved(const Settings& s, int ranks) {
  const Type type = named(all_types(), s.type, [](Type each) { return to_string(each); });
  const Op op = *op_named(s.op);
  require_sizes(s, type);
  const BenchMemory& memory = named(memories(), s.memory, [](const BenchMemory& each) { return each.name; });
  if (s.calls == "mpi") require_mpi_alone(s);
  if (s.measures_pairs()) require_pairs(s);
  if (s.is_overlapped) require_overlap(s);
  if (s.root >= ranks) {
    throw InputError(fmt::format("--root {} is not a rank: there are {}, from 0 to {}", s.root, ranks, ranks - 1));
  }
  if (!s.json.empty() && s.json == s.csv) throw InputError("--json and --csv name the same file");
  std::vector<Experiment> experiments;
  for (const std::string& name : collectives_in_mode(s)) {
    const BenchCollective& collective = *collective_named(name);
    require_operation(s, collective, type, op);
    require_lists(s, collective);
    experiments.push_back({.collective = &collective,
                           .memory = &memory,
                           .mode = mode_of(s),
                           .type = type,
                           .op = op,
                           .root = Rank{s.root},
                           .algorithms = algorithms_named(s.algorithms, collective),
                           .has_selected = collective.collective && has_each(s),
                           .transport = transport_of(s),
                           .list = s.list,
                           .placements = placements_of(s, collective),
                           .counts = sizes_of(s, collective, type, ranks),
                           .accumulate = collective.reduces() ? accumulate_of(s) : std::nullopt});
  }
  return experiments;
}

}  // namespace tutti::bench
