#include "apps/tutti/import_json.hpp"

#include <fmt/format.h>

#include <array>

#include "apps/options.hpp"

namespace tutti::tool {
namespace {

std::string_view name_of(JsonValue::Form form) {
  constexpr std::array<std::string_view, 7> names{"null",   "true or false", "a whole number", "a number",
                                                  "a text", "an array",      "an object"};
  return names[static_cast<std::size_t>(form)];
}

}  // namespace

JsonFile::JsonFile(std::string_view text, std::string_view path) : path_(path) {
  try {
    root_ = parse_json(text);
  } catch (const JsonFault& fault) {
    fail(fault.place, fault.what());
  }
}

void JsonFile::fail(TextPlace at, const std::string& why) const {
  throw apps::InputError(fmt::format("{}:{}:{}: {}", path_, at.line, at.column, why));
}

void JsonFile::require(const JsonValue& value, JsonValue::Form form, std::string_view what) const {
  if (value.form != form)
    fail(value.place, fmt::format("{} is {}; allowed: {}", what, name_of(value.form), name_of(form)));
}

const JsonValue* JsonFile::find(const JsonValue& object, std::string_view key) const {
  require(object, JsonValue::Form::object, "a value");
  for (const JsonValue::Member& member : object.members)
    if (member.key == key) return &member.value;
  return nullptr;
}

const JsonValue& JsonFile::need(const JsonValue& object, std::string_view key, JsonValue::Form form) const {
  const JsonValue* const found = find(object, key);
  if (found == nullptr) fail(object.place, fmt::format("no key '{}'", key));
  require(*found, form, fmt::format("'{}'", key));
  return *found;
}

std::int64_t JsonFile::number(const JsonValue& object, std::string_view key, std::int64_t most,
                              std::int64_t fallback) const {
  const JsonValue* const found = find(object, key);
  if (found == nullptr) return fallback;
  require(*found, JsonValue::Form::integer, fmt::format("'{}'", key));
  if (found->integer < 0 || found->integer > most)
    fail(found->place, fmt::format("'{}' is {}; allowed: 0 to {}", key, found->integer, most));
  return found->integer;
}

}  // namespace tutti::tool
