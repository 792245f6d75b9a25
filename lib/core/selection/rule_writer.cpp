#include "lib/core/selection/rule_writer.hpp"

#include <nlohmann/json.hpp>

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

/// In one line, with blanks behind commas and colons.
std::string one_line(const Json& value) {
  if (!value.is_object() && !value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  for (const auto& [key, item] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += one_line(Json(key)) + ": ";
    text += one_line(item);
  }
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

Json end_of(std::int64_t value, bool is_open) { return is_open ? Json{} : Json(value); }

void add(Json& object, const char* key, const Range& range) {
  if (range.is_open()) return;
  if (range.least == range.most)
    object[key] = range.least;
  else
    object[key] = Json::array({end_of(range.least, range.least == 0), end_of(range.most, range.most == Range::no_end)});
}
template <class T>
void add(Json& object, const char* key, const std::optional<T>& value) {
  if (value) object[key] = *value;
}
/// A text that is empty, and a number that is 0, say nothing.
template <class T>
void add_unless_empty(Json& object, const char* key, const T& value) {
  if (value != T{}) object[key] = value;
}

void add_conditions(Json& object, const Conditions& when) {
  add(object, "ranks", when.ranks);
  add(object, "nodes", when.nodes);
  add(object, "ppn", when.ppn);
  if (when.memory) object["memory"] = assumed_memory_names[static_cast<std::size_t>(*when.memory)];
  if (when.mode) object["mode"] = manner_names[static_cast<std::size_t>(*when.mode)];
  add(object, "commutative", when.commutative);
  add(object, "uneven", when.uneven);
  add(object, "shares_memory", when.shares_memory);
  add(object, "shares_processors", when.shares_processors);
  add(object, "maps_devices", when.maps_devices);
  add(object, "power_of_two", when.power_of_two);
  add(object, "consecutive", when.consecutive);
  add(object, "bytes", when.bytes);
  add(object, "bytes_per_rank", when.bytes_per_rank);
  add(object, "bytes_per_node", when.bytes_per_node);
}

Json json_of(const Rule& rule) {
  Json object{{"collective", to_string(rule.collective)}};
  add_unless_empty(object, "note", rule.note);
  add_conditions(object, rule.when);
  object["use"] = to_text(rule.choice);
  add_unless_empty(object, "why", rule.why);
  const Measured& its = rule.measured;
  if (its.mpi_us > 0) object["mpi"] = {{"us", its.mpi_us}};
  Json measured = Json::object();
  add_unless_empty(measured, "us", its.us);
  add_unless_empty(measured, "spread", its.spread);
  add_unless_empty(measured, "default_us", its.default_us);
  add_unless_empty(measured, "next", its.next);
  add_unless_empty(measured, "next_us", its.next_us);
  add_unless_empty(measured, "runs", its.runs);
  if (!measured.empty()) object["measured"] = std::move(measured);
  return object;
}

Json json_of(const FittingMachines& machines) {
  Json object = Json::object();
  add(object, "cpu", machines.cpu);
  add(object, "gpu", machines.gpu);
  add(object, "mpi", machines.mpi);
  add(object, "network", machines.network);
  add(object, "nodes", machines.nodes);
  add(object, "ppn", machines.ppn);
  return object;
}

}  // namespace

std::string write_rule_file(const RuleFile& file) {
  std::string text = "{\n  \"tutti_rules\": " + std::to_string(rules_version);
  const auto add_member = [&](const std::string& key, const Json& value) {
    if (!value.empty()) text += ",\n  \"" + key + "\": " + one_line(value);
  };
  Json made = Json::object(), tuning = Json::object();
  for (const auto& [key, value] : file.made)
    made[key] = value;
  for (const auto& [key, value] : file.tuning.values)
    tuning[key] = value;
  add_member("made", made);
  add_member("for", json_of(file.machines));
  if (file.is_simulated) add_member("simulated", true);
  text += ",\n  \"rules\": [";
  for (std::size_t i = 0; i < file.rules.size(); ++i)
    text += (i > 0 ? ",\n    " : "\n    ") + one_line(json_of(file.rules[i]));
  text += file.rules.empty() ? "]" : "\n  ]";
  add_member("tuning", tuning);
  return text + "\n}\n";
}

}  // namespace tutti
