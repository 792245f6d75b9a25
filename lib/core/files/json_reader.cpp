#include "lib/core/files/json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lib/core/schedule/near_names.hpp"

namespace tutti {
namespace {

using Form = JsonValue::Form;

std::string_view name_of(Form form) {
  constexpr std::array<std::string_view, 7> names{"null",   "true or false", "a whole number", "a number",
                                                  "a text", "an array",      "an object"};
  return names[static_cast<std::size_t>(form)];
}

/// A value in few characters.
std::string shown(const JsonValue& value) {
  switch (value.form) {
    case Form::boolean:
      return value.boolean ? "true" : "false";
    case Form::integer:
      return fmt::to_string(value.integer);
    case Form::real:
      return fmt::to_string(value.real);
    case Form::text:
      return fmt::format("'{}'", value.text);
    default:
      return std::string{name_of(value.form)};
  }
}

}  // namespace

JsonValue JsonReader::parsed(std::string_view text, std::size_t most) const {
  if (text.size() > most) fail({}, fmt::format("the file has {} bytes; allowed: up to {}", text.size(), most));
  try {
    return parse_json(text);
  } catch (const JsonFault& fault) {
    fail(fault.place, fault.what());
  }
}

void JsonReader::read_object(const JsonValue& object, std::string_view what, const std::vector<Key>& keys) const {
  if (object.form != Form::object) refuse(object, what, "an object");
  for (const JsonValue::Member& member : object.members) {
    const std::string& name = member.key;
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
    if (found != keys.end()) {
      found->read(member.value);
      continue;
    }
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const Key& key : keys)
      names.emplace_back(key.name);
    fail(member.place, fmt::format("'{}' is no key of {}; allowed: {}{}", name, what, fmt::join(names, ", "),
                                   suggestion(name, names)));
  }
}

bool JsonReader::boolean(const JsonValue& value, std::string_view key) const {
  if (value.form != Form::boolean) refuse(value, key, "true, false");
  return value.boolean;
}

const std::string& JsonReader::text(const JsonValue& value, std::string_view key) const {
  if (value.form != Form::text) refuse(value, key, "a text");
  return value.text;
}

std::int64_t JsonReader::integer(const JsonValue& value, std::string_view key, std::int64_t least,
                                 std::int64_t most) const {
  if (value.form != Form::integer || value.integer < least || value.integer > most)
    refuse(value, key, fmt::format("a whole number from {} to {}", least, most));
  return value.integer;
}

double JsonReader::positive(const JsonValue& value, std::string_view key, double most) const {
  const bool is_number = value.form == Form::integer || value.form == Form::real;
  if (!is_number || !(value.real >= 0 && value.real <= most) || !std::isfinite(value.real))
    refuse(value, key, std::isfinite(most) ? fmt::format("a number from 0 to {:g}", most) : "a number from 0 on");
  return value.real;
}

std::size_t JsonReader::name(const JsonValue& value, std::string_view key,
                             const std::vector<std::string>& names) const {
  const auto found = std::find(names.begin(), names.end(), text(value, key));
  if (found == names.end())
    refuse(value, key, fmt::format("{}{}", fmt::join(names, ", "), suggestion(value.text, names)));
  return static_cast<std::size_t>(found - names.begin());
}

const std::vector<JsonValue>& JsonReader::array(const JsonValue& value, std::string_view key, std::size_t most) const {
  if (value.form != Form::array) refuse(value, key, "an array");
  if (value.items.size() > most)
    fail(value.place, fmt::format("'{}' has {} items; allowed: up to {}", key, value.items.size(), most));
  return value.items;
}

void JsonReader::fail(TextPlace at, const std::string& why) const {
  throw ArgumentError(fmt::format("{}:{}:{}: {}", path_, at.line, at.column, why));
}

void JsonReader::refuse(const JsonValue& value, std::string_view key, std::string_view allowed) const {
  fail(value.place, fmt::format("'{}' is {}; allowed: {}", key, shown(value), allowed));
}

}  // namespace tutti
