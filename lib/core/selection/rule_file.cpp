#include "lib/core/selection/rule_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <stdexcept>

#include "lib/core/files/json_reader.hpp"
#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using Form = JsonValue::Form;

/// The names of things that have one.
template <class Named>
std::vector<std::string> names_of(const Named& all) {
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const auto& each : all)
    names.emplace_back(each.name);
  return names;
}

class RuleFileReader : private JsonReader {
 public:
  explicit RuleFileReader(std::string_view path) : JsonReader(path) { file_.path = path; }

  RuleFile read(std::string_view text) && {
    read_root(parsed(text, longest_rule_file));
    warn_of_hidden_rules();
    return std::move(file_);
  }

 private:
  [[nodiscard]] Range range(const JsonValue& value, std::string_view key) const {
    constexpr std::int64_t largest = std::int64_t{1} << 50;
    const std::string_view allowed = "a whole number, or two as [least, most], each from 0 to 2^50; null: no end";
    const auto end = [&](const JsonValue& its, std::int64_t open) {
      if (its.form == Form::null) return open;
      if (its.form != Form::integer || its.integer < 0 || its.integer > largest) refuse(its, key, allowed);
      return its.integer;
    };
    if (value.form != Form::array) return {end(value, 0), end(value, Range::no_end)};
    if (value.items.size() != 2) refuse(value, key, allowed);
    const Range read{end(value.items[0], 0), end(value.items[1], Range::no_end)};
    if (read.least > read.most)
      fail(value.place, fmt::format("'{}' is [{}, {}], which holds for nothing; allowed: the smaller number first", key,
                                    read.least, read.most));
    return read;
  }
  void read_root(const JsonValue& root) {
    bool has_version = false;
    read_object(root, "a file of rules",
                {{"tutti_rules",
                  [&](const JsonValue& value) {
                    has_version = true;
                    if (value.form != Form::integer || value.integer != rules_version)
                      refuse(value, "tutti_rules", fmt::format("{}, the version of the form", rules_version));
                  }},
                 {"made", [&](const JsonValue& value) { read_made(value); }},
                 {"for", [&](const JsonValue& value) { read_machines(value); }},
                 {"simulated", [&](const JsonValue& value) { file_.is_simulated = boolean(value, "simulated"); }},
                 {"rules", [&](const JsonValue& value) { read_rules(value); }},
                 {"tuning", [&](const JsonValue& value) { read_tuning(value); }}});
    if (!has_version)
      fail(root.place,
           fmt::format("no key 'tutti_rules'; needed: \"tutti_rules\": {}, the version of the form", rules_version));
  }
  void read_made(const JsonValue& made) {
    std::vector<Key> keys;
    for (const std::string_view key :
         {"by", "when", "hosts", "cpu", "gpu", "network", "mpi", "ranks", "nodes", "ppn", "commit", "command", "note"})
      keys.push_back({key, [this, key](const JsonValue& value) {
                        std::string all;
                        for (const JsonValue& item : value.items)
                          all += fmt::format("{}{}", all.empty() ? "" : ", ", text(item, key));
                        if (value.form == Form::text) all = value.text;
                        if (value.form == Form::integer) all = fmt::to_string(value.integer);
                        if (value.form != Form::null) file_.made.emplace_back(key, std::move(all));
                      }});
    read_object(made, "'made'", keys);
  }
  void read_machines(const JsonValue& machines) {
    FittingMachines& its = file_.machines;
    const auto pattern = [this](std::optional<std::string>& into, std::string_view key) {
      return Key{key, [this, &into, key](const JsonValue& value) {
                   if (value.form != Form::null) into = text(value, key);
                 }};
    };
    read_object(machines, "'for'",
                {pattern(its.cpu, "cpu"),
                 pattern(its.gpu, "gpu"),
                 pattern(its.mpi, "mpi"),
                 pattern(its.network, "network"),
                 {"nodes", [&](const JsonValue& value) { its.nodes = range(value, "nodes"); }},
                 {"ppn", [&](const JsonValue& value) { its.ppn = range(value, "ppn"); }}});
  }
  void read_tuning(const JsonValue& tuning);
  void read_rules(const JsonValue& rules) {
    if (rules.form != Form::array) refuse(rules, "rules", "an array of rules");
    if (rules.items.size() > most_rules)
      fail(rules.place, fmt::format("{} rules; allowed: up to {}", rules.items.size(), most_rules));
    for (const JsonValue& rule : rules.items)
      file_.rules.push_back(read_rule(rule));
  }
  [[nodiscard]] Rule read_rule(const JsonValue& given) const;
  /// What a rule uses; the path of a file of schedules is meant from the folder of this file on.
  [[nodiscard]] std::string with_folder(const std::string& use) const {
    if (!use.starts_with(file_prefix)) return use;
    const std::filesystem::path folder = std::filesystem::path{file_.path}.parent_path();
    return std::string{file_prefix} + (folder / use.substr(file_prefix.size())).string();
  }
  [[nodiscard]] std::vector<Key> condition_keys(Conditions& when) const;
  [[nodiscard]] Measured read_measured(const JsonValue& given) const;
  void warn_of_hidden_rules();

  RuleFile file_{};
};

std::vector<RuleFileReader::Key> RuleFileReader::condition_keys(Conditions& when) const {
  std::vector<Key> keys;
  const auto add_range = [&](std::string_view key, Range& into) {
    keys.push_back({key, [this, key, &into](const JsonValue& value) { into = range(value, key); }});
  };
  const auto add_fact = [&](std::string_view key, std::optional<bool>& into) {
    keys.push_back({key, [this, key, &into](const JsonValue& value) {
                      if (value.form != Form::null) into = boolean(value, key);
                    }});
  };
  add_range("ranks", when.ranks);
  add_range("nodes", when.nodes);
  add_range("ppn", when.ppn);
  add_range("bytes", when.bytes);
  add_range("bytes_per_rank", when.bytes_per_rank);
  add_range("bytes_per_node", when.bytes_per_node);
  keys.push_back({"memory", [this, &when](const JsonValue& value) {
                    if (value.form != Form::null)
                      when.memory = static_cast<AssumedMemory>(
                          name(value, "memory", {assumed_memory_names.begin(), assumed_memory_names.end()}));
                  }});
  keys.push_back(
      {"mode", [this, &when](const JsonValue& value) {
         if (value.form != Form::null)
           when.mode = static_cast<records::Manner>(name(value, "mode", {manner_names.begin(), manner_names.end()}));
       }});
  add_fact("commutative", when.commutative);
  add_fact("uneven", when.uneven);
  add_fact("shares_memory", when.shares_memory);
  add_fact("shares_processors", when.shares_processors);
  add_fact("maps_devices", when.maps_devices);
  add_fact("power_of_two", when.power_of_two);
  add_fact("consecutive", when.consecutive);
  return keys;
}

Measured RuleFileReader::read_measured(const JsonValue& given) const {
  Measured measured;
  const auto time = [this](double& into, std::string_view key) {
    return Key{key, [this, &into, key](const JsonValue& value) {
                 if (value.form != Form::null) into = positive(value, key);
               }};
  };
  read_object(given, "'measured'",
              {time(measured.us, "us"),
               time(measured.spread, "spread"),
               time(measured.default_us, "default_us"),
               time(measured.next_us, "next_us"),
               {"next",
                [&](const JsonValue& value) {
                  if (value.form != Form::null) measured.next = text(value, "next");
                }},
               {"runs", [&](const JsonValue& value) {
                  measured.runs = static_cast<int>(integer(value, "runs", 0, 1'000'000'000));
                }}});
  return measured;
}

Rule RuleFileReader::read_rule(const JsonValue& given) const {
  Rule rule{.line = given.place.line};
  const JsonValue *collective = nullptr, *use = nullptr;
  double mpi_us = 0;
  std::vector<Key> keys = condition_keys(rule.when);
  const auto keep = [](const JsonValue*& into) { return [&into](const JsonValue& value) { into = &value; }; };
  keys.push_back({"collective", keep(collective)});
  keys.push_back({"use", keep(use)});
  keys.push_back({"why", [&](const JsonValue& value) { rule.why = text(value, "why"); }});
  keys.push_back({"note", [&](const JsonValue& value) { rule.note = text(value, "note"); }});
  keys.push_back({"mpi", [&](const JsonValue& value) {
                    read_object(value, "'mpi'", {{"us", [&](const JsonValue& us) { mpi_us = positive(us, "us"); }}});
                  }});
  keys.push_back({"measured", [&](const JsonValue& value) { rule.measured = read_measured(value); }});
  read_object(given, "a rule", keys);
  rule.measured.mpi_us = mpi_us;
  if (collective == nullptr) fail(given.place, "a rule without the key 'collective'");
  if (use == nullptr) fail(given.place, "a rule without the key 'use'");
  std::vector<std::string> names;
  for (int i = 0; i < collective_count; ++i)
    names.emplace_back(to_string(static_cast<Collective>(i)));
  rule.collective = static_cast<Collective>(name(*collective, "collective", names));
  try {
    rule.choice = read_choice(rule.collective, with_folder(text(*use, "use")));
  } catch (const std::invalid_argument& error) {
    fail(use->place, fmt::format("'use' is '{}': {}", use->text, error.what()));
  }
  return rule;
}

void RuleFileReader::read_tuning(const JsonValue& tuning) {
  if (tuning.form != Form::object) refuse(tuning, "tuning", "an object");
  const std::vector<std::string> names = names_of(tunable_constants);
  for (const auto& [key, place, value] : tuning.members) {
    const auto found = std::find(names.begin(), names.end(), key);
    if (found == names.end())
      fail(place,
           fmt::format("'{}' is no constant; allowed: {}{}", key, fmt::join(names, ", "), suggestion(key, names)));
    const TunableConstant& its = tunable_constants[static_cast<std::size_t>(found - names.begin())];
    file_.tuning.values.emplace_back(key, integer(value, key, its.least, its.most));
  }
}

void RuleFileReader::warn_of_hidden_rules() {
  for (std::size_t i = 0; i < file_.rules.size(); ++i)
    for (std::size_t before = 0; before < i; ++before) {
      if (!file_.rules[before].hides(file_.rules[i])) continue;
      file_.warnings.push_back({file_.rules[i].line, 1,
                                fmt::format("this rule of {} is never used: the one in line {} comes first",
                                            to_string(file_.rules[i].collective), file_.rules[before].line)});
      break;
    }
}

}  // namespace

std::optional<std::int64_t> TunedConstants::find(std::string_view name) const {
  for (const auto& [its, value] : values)
    if (its == name) return value;
  return std::nullopt;
}

RuleFile read_rule_file(std::string_view text, std::string_view path) { return RuleFileReader{path}.read(text); }

const RuleTable& builtin_rules() {
  // Never destroyed: calls may come after main.
  static const RuleTable& table = *new RuleTable{read_rule_file(builtin_text(), "built-in rules").rules};
  return table;
}

}  // namespace tutti
