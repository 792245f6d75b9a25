#include "lib/core/files/schedule_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "lib/core/files/json_reader.hpp"
#include "lib/core/schedule/regions.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

using Form = JsonValue::Form;

constexpr std::int64_t most_places = 1 << 30;
constexpr std::size_t most_steps = 1 << 22, most_regions = 1 << 16;
constexpr int most_number = std::numeric_limits<int>::max();

class ScheduleFileReader : private JsonReader {
 public:
  explicit ScheduleFileReader(std::string_view path) : JsonReader(path) { file_.path = path; }

  ScheduleFile read(std::string_view text) && {
    const JsonValue root = parsed(text, longest_schedule_file);
    read_root(root);
    require_whole(root);
    return std::move(file_);
  }

 private:
  void read_root(const JsonValue& root);
  void read_requirements(const JsonValue& given);
  void read_bytes(const JsonValue& given);
  void read_ranks(const JsonValue& given);
  [[nodiscard]] Schedule read_schedule(const JsonValue& given, int rank) const;
  /// The keys of a step whose meaning depends on its action.
  struct GivenStep {
    TextPlace place{};
    const JsonValue* action = nullptr;
    std::map<std::string_view, const JsonValue*> values{};
    int message = 0;
    std::vector<int> after{};
  };
  [[nodiscard]] GivenStep read_keys(const JsonValue& given) const;
  [[nodiscard]] const JsonValue& needed(const GivenStep& step, std::string_view key) const;
  [[nodiscard]] Rank rank_in(const GivenStep& step, std::string_view key) const {
    return Rank{static_cast<int>(integer(needed(step, key), key, 0, most_ranks_in_file - 1))};
  }
  [[nodiscard]] Region region_in(const GivenStep& step, std::string_view key) const {
    return read_region(needed(step, key), key);
  }
  [[nodiscard]] Recv recv_of(const GivenStep& step) const;
  [[nodiscard]] Step read_step(const JsonValue& given) const;
  [[nodiscard]] Region read_region(const JsonValue& given, std::string_view key) const;
  [[nodiscard]] Regions read_regions(const JsonValue& given, std::string_view key) const;
  void require_whole(const JsonValue& root) const;

  /// A key whose value is of no use here: what `tutti show` writes for people, and notes.
  static Key ignored(std::string_view name) {
    return {name, [](const JsonValue&) {}};
  }
  [[nodiscard]] Count count(const JsonValue& value, std::string_view key) const {
    return Count{integer(value, key, 0, most_places)};
  }

  ScheduleFile file_{};
  bool has_version_ = false, has_collective_ = false, has_size_ = false, has_chunks_ = false, has_ranks_ = false;
};

void ScheduleFileReader::read_root(const JsonValue& root) {
  std::vector<std::string> collectives;
  collectives.reserve(collective_count);
  for (int i = 0; i < collective_count; ++i)
    collectives.emplace_back(to_string(static_cast<Collective>(i)));
  const std::vector<std::string> bits{bits_names.begin(), bits_names.end()};
  std::vector<Key> keys{
      {"tutti_schedule",
       [&](const JsonValue& value) {
         if (value.form != Form::integer || value.integer != schedule_version)
           refuse(value, "tutti_schedule", fmt::format("{}, the version of the form", schedule_version));
         has_version_ = true;
       }},
      {"collective",
       [&](const JsonValue& value) {
         file_.collective = static_cast<Collective>(name(value, "collective", collectives));
         has_collective_ = true;
       }},
      {"size",
       [&](const JsonValue& value) {
         file_.ranks = static_cast<int>(integer(value, "size", 1, most_ranks_in_file));
         has_size_ = true;
       }},
      {"chunks",
       [&](const JsonValue& value) {
         file_.chunks = integer(value, "chunks", 1, most_chunks);
         has_chunks_ = true;
       }},
      {"root",
       [&](const JsonValue& value) { file_.root = Rank{static_cast<int>(integer(value, "root", 0, most_number))}; }},
      {"algorithm", [&](const JsonValue& value) { file_.algorithm = text(value, "algorithm"); }},
      {"title", [&](const JsonValue& value) { file_.title = text(value, "title"); }},
      {"source", [&](const JsonValue& value) { file_.source = text(value, "source"); }},
      {"bits", [&](const JsonValue& value) { file_.bits = static_cast<Bits>(name(value, "bits", bits)); }},
      {"requires", [&](const JsonValue& value) { read_requirements(value); }},
      {"bytes", [&](const JsonValue& value) { read_bytes(value); }},
      {"ranks", [&](const JsonValue& value) { read_ranks(value); }}};
  for (const std::string_view key : {"tutti", "parameter", "segment", "fused", "cost", "fault", "note"})
    keys.push_back(ignored(key));
  read_object(root, "a schedule", keys);
}

void ScheduleFileReader::read_requirements(const JsonValue& given) {
  read_object(given, "'requires'",
              {{"commutative", [&](const JsonValue& value) { file_.is_commutative = boolean(value, "commutative"); }},
               {"in_place", [&](const JsonValue& value) { file_.is_in_place = boolean(value, "in_place"); }},
               {"uneven",
                [&](const JsonValue& value) {
                  if (boolean(value, "uneven")) refuse(value, "uneven", "false: chunks of a block are alike");
                }},
               {"nodes", [&](const JsonValue& value) {
                  file_.nodes.clear();
                  for (const JsonValue& node : array(value, "nodes", most_ranks_in_file))
                    file_.nodes.push_back(static_cast<int>(integer(node, "nodes", 1, most_ranks_in_file)));
                }}});
}

void ScheduleFileReader::read_bytes(const JsonValue& given) {
  constexpr std::string_view allowed = "[least, most], each from 0 to 2^50; null: no end";
  constexpr std::int64_t largest = std::int64_t{1} << 50;
  if (given.form != Form::array || given.items.size() != 2) refuse(given, "bytes", allowed);
  std::int64_t* const ends[] = {&file_.least_bytes, &file_.most_bytes};
  for (std::size_t i = 0; i < 2; ++i)
    if (given.items[i].form != Form::null) *ends[i] = integer(given.items[i], "bytes", 0, largest);
  if (file_.least_bytes > file_.most_bytes)
    fail(given.place,
         fmt::format("'bytes' is [{}, {}]; allowed: the smaller number first", file_.least_bytes, file_.most_bytes));
}

void ScheduleFileReader::read_ranks(const JsonValue& given) {
  has_ranks_ = true;
  for (const JsonValue& rank : array(given, "ranks", most_ranks_in_file))
    file_.schedules.push_back(read_schedule(rank, static_cast<int>(file_.schedules.size())));
}

Schedule ScheduleFileReader::read_schedule(const JsonValue& given, int rank) const {
  Schedule schedule;
  const auto require_rank = [&](const JsonValue& value) {
    if (integer(value, "rank", 0, most_number) != rank)
      refuse(value, "rank", fmt::format("{}: the schedules of all ranks, in their order", rank));
  };
  read_object(
      given, "a rank",
      {{"rank", require_rank},
       ignored("input"),
       ignored("output"),
       ignored("input_at_output"),
       {"scratch",
        [&](const JsonValue& value) { schedule.scratch = Count{integer(value, "scratch", 0, most_chunks_in_all)}; }},
       {"steps", [&](const JsonValue& value) {
          const std::vector<JsonValue>& steps = array(value, "steps", most_steps);
          schedule.steps.reserve(steps.size());
          for (const JsonValue& step : steps)
            schedule.steps.push_back(read_step(step));
        }}});
  return schedule;
}

Region ScheduleFileReader::read_region(const JsonValue& given, std::string_view key) const {
  Region region;
  read_object(given, fmt::format("the region '{}'", key),
              {{"buffer",
                [&](const JsonValue& value) {
                  region.buffer = static_cast<Buffer>(name(value, "buffer", {"input", "output", "scratch"}));
                }},
               {"offset", [&](const JsonValue& value) { region.offset = count(value, "offset"); }},
               {"count", [&](const JsonValue& value) { region.count = count(value, "count"); }}});
  return region;
}

Regions ScheduleFileReader::read_regions(const JsonValue& given, std::string_view key) const {
  Regions regions;
  for (const JsonValue& region : array(given, key, most_regions))
    regions.push_back(read_region(region, key));
  return regions;
}

ScheduleFileReader::GivenStep ScheduleFileReader::read_keys(const JsonValue& given) const {
  GivenStep step{.place = given.place};
  std::vector<Key> keys{
      {"action", [&](const JsonValue& value) { step.action = &value; }},
      {"message",
       [&](const JsonValue& value) { step.message = static_cast<int>(integer(value, "message", 0, most_number)); }},
      {"after", [&](const JsonValue& value) {
         for (const JsonValue& before : array(value, "after", most_steps))
           step.after.push_back(static_cast<int>(integer(before, "after", 0, most_number)));
       }}};
  for (const std::string_view key : {"to", "from", "into", "lhs", "rhs", "then"})
    keys.push_back({key, [&step, key](const JsonValue& value) { step.values[key] = &value; }});
  read_object(given, "a step", keys);
  if (step.action == nullptr) fail(given.place, "a step without the key 'action'");
  return step;
}

const JsonValue& ScheduleFileReader::needed(const GivenStep& step, std::string_view key) const {
  const auto found = step.values.find(key);
  if (found == step.values.end())
    fail(step.place, fmt::format("a step '{}' without the key '{}'", step.action->text, key));
  return *found->second;
}

Recv ScheduleFileReader::recv_of(const GivenStep& step) const {
  Recv recv{rank_in(step, "from"), read_regions(needed(step, "into"), "into"), step.message, {}};
  const auto found = step.values.find("then");
  if (found == step.values.end()) return recv;
  const JsonValue& then = *found->second;
  const Step reduction = read_step(then);
  const auto* const reduce = std::get_if<Reduce>(&reduction.action);
  if (reduce == nullptr || !reduction.after.empty()) refuse(then, "then", "a step 'reduce' without 'after'");
  if (recv.into.size() != 1) fail(then.place, "'then' in a step 'recv' whose 'into' has not one region");
  recv.then = *reduce;
  return recv;
}

/// Which keys a step has depends on its action, which may come behind them.
Step ScheduleFileReader::read_step(const JsonValue& given) const {
  const GivenStep step = read_keys(given);
  const auto require_only = [&](const std::vector<std::string_view>& keys) {
    for (const auto& [key, value] : step.values)
      if (std::ranges::count(keys, key) == 0)
        fail(value->place, fmt::format("'{}' is no key of a step '{}'", key, step.action->text));
  };
  switch (name(*step.action, "action", {"send", "recv", "reduce", "copy"})) {
    case 0:
      require_only({"to", "from"});
      return {Send{rank_in(step, "to"), read_regions(needed(step, "from"), "from"), step.message}, step.after};
    case 1:
      require_only({"from", "into", "then"});
      return {recv_of(step), step.after};
    case 2:
      require_only({"lhs", "rhs", "into"});
      return {Reduce{region_in(step, "lhs"), region_in(step, "rhs"), region_in(step, "into")}, step.after};
    default:
      require_only({"from", "into"});
      return {Copy{region_in(step, "from"), region_in(step, "into")}, step.after};
  }
}

void ScheduleFileReader::require_whole(const JsonValue& root) const {
  for (const auto& [has, key] :
       {std::pair{has_version_, "tutti_schedule"}, std::pair{has_collective_, "collective"},
        std::pair{has_size_, "size"}, std::pair{has_chunks_, "chunks"}, std::pair{has_ranks_, "ranks"}})
    if (!has) fail(root.place, fmt::format("no key '{}'", key));
  if (file_.schedules.size() != static_cast<std::size_t>(file_.ranks))
    fail(root.place, fmt::format("'ranks' has {} schedules; needed: {}, one for each rank of 'size'",
                                 file_.schedules.size(), file_.ranks));
  if (file_.root.value() >= file_.ranks)
    fail(root.place, fmt::format("'root' is {}; allowed: 0 to {}", file_.root.value(), file_.ranks - 1));
  std::int64_t on_nodes = 0;
  for (const int ranks : file_.nodes)
    on_nodes += ranks;
  if (!file_.nodes.empty() && on_nodes != file_.ranks)
    fail(root.place, fmt::format("'nodes' has {} ranks in all; 'size' is {}", on_nodes, file_.ranks));
  std::int64_t chunks = 0;
  for (int rank = 0; rank < file_.ranks; ++rank) {
    const Shape shape = shape_of(problem_of(file_, Rank{rank}, Count{file_.chunks}));
    chunks +=
        shape.input.value() + shape.output.value() + file_.schedules[static_cast<std::size_t>(rank)].scratch.value();
  }
  if (chunks > most_chunks_in_all)
    fail(root.place,
         fmt::format("the buffers of all ranks have {} chunks; allowed: up to {}", chunks, most_chunks_in_all));
}

}  // namespace

ScheduleFile read_schedule_file(std::string_view text, std::string_view path) {
  return ScheduleFileReader{path}.read(text);
}

std::vector<int> spread_of(const ScheduleFile& file) {
  std::vector<int> spread;
  for (int node = 0; const int ranks : file.nodes)
    spread.insert(spread.end(), static_cast<std::size_t>(ranks), node++);
  return spread;
}

Problem problem_of(const ScheduleFile& file, Rank rank, Count count) {
  Problem problem{.rank = rank, .size = file.ranks, .count = count};
  problem.collective = file.collective;
  problem.root = file.root;
  if (file.collective == Collective::barrier) problem.count = Count{0};
  if (file.is_in_place) problem.aliasing = called_in_place(problem);
  return problem;
}

}  // namespace tutti
