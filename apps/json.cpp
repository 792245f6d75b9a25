#include "apps/json.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace tutti::apps {

struct Json::Value {
  nlohmann::ordered_json its;
};

namespace {

using Parsed = nlohmann::ordered_json;

std::string text_of(const Parsed& json, int indent) {
  return json.dump(indent, ' ', false, Parsed::error_handler_t::replace);
}

/// The result of `get`, whose errors are told in this project's words.
template <class Get>
auto taken(const Parsed& json, std::string_view wanted, const Get& get) {
  try {
    return get(json);
  } catch (const Parsed::exception&) {
    throw JsonError(fmt::format("{} is not {}", text_of(json, -1), wanted));
  }
}

}  // namespace

Json::Json(std::unique_ptr<Value> value) : value_(std::move(value)) {}
Json::Json() : value_(std::make_unique<Value>()) {}
Json::Json(std::nullptr_t /*null*/) : Json() {}
Json::Json(double value) : value_(std::make_unique<Value>(Value{value})) {}
Json::Json(std::string_view text) : value_(std::make_unique<Value>(Value{text})) {}
Json::Json(std::initializer_list<Member> members) : Json(object()) {
  for (const Member& member : members)
    set(member.name, std::move(member.value));
}
Json Json::of_bool(bool value) { return Json{std::make_unique<Value>(Value{value})}; }
Json Json::of_signed(std::int64_t value) { return Json{std::make_unique<Value>(Value{value})}; }
Json Json::of_unsigned(std::uint64_t value) { return Json{std::make_unique<Value>(Value{value})}; }
Json Json::array() { return Json{std::make_unique<Value>(Value{Parsed::array()})}; }
Json Json::object() { return Json{std::make_unique<Value>(Value{Parsed::object()})}; }

Json::Json(const Json& other) : value_(std::make_unique<Value>(*other.value_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(Json other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}
Json::~Json() = default;

void Json::push_back(Json value) { value_->its.push_back(std::move(value.value_->its)); }
void Json::set(std::string_view name, Json value) { value_->its[std::string{name}] = std::move(value.value_->its); }
void Json::update(const Json& other) { value_->its.update(other.value_->its); }

std::string Json::text(int indent) const { return text_of(value_->its, indent); }

Json Json::parse(const std::string& text) {
  try {
    // Values that are deeper would be destroyed by as many calls inside each other.
    static constexpr int deepest = 256;
    const auto require_flat = [](int depth, Parsed::parse_event_t /*event*/, const Parsed& /*value*/) {
      if (depth > deepest) throw JsonError(fmt::format("values lie more than {} levels deep", deepest));
      return true;
    };
    return Json{std::make_unique<Value>(Value{Parsed::parse(text, require_flat)})};
  } catch (const Parsed::exception& error) {
    throw JsonError(error.what());
  }
}

Json Json::at(std::string_view name) const {
  return taken(value_->its, fmt::format("an object with '{}'", name),
               [&](const Parsed& json) { return Json{std::make_unique<Value>(Value{json.at(std::string{name})})}; });
}

std::optional<Json> Json::find(std::string_view name) const {
  return taken(value_->its, "an object", [&](const Parsed& json) -> std::optional<Json> {
    const auto& members = json.get_ref<const Parsed::object_t&>();
    const auto found = members.find(std::string{name});
    if (found == members.end() || found->second.is_null()) return std::nullopt;
    return Json{std::make_unique<Value>(Value{found->second})};
  });
}

std::vector<Json> Json::items() const {
  return taken(value_->its, "an array", [](const Parsed& json) {
    std::vector<Json> items;
    for (const Parsed& each : json.get_ref<const Parsed::array_t&>())
      items.push_back(Json{std::make_unique<Value>(Value{each})});
    return items;
  });
}

std::string Json::as_text() const {
  return taken(value_->its, "a text", [](const Parsed& json) { return json.get<std::string>(); });
}
double Json::as_number() const {
  return taken(value_->its, "a number", [](const Parsed& json) { return json.get<double>(); });
}
bool Json::as_bool() const {
  return taken(value_->its, "true or false", [](const Parsed& json) { return json.get<bool>(); });
}
int Json::as_int() const {
  using Limits = std::numeric_limits<int>;
  const Parsed& json = value_->its;
  // The library casts numbers that do not fit.
  const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())
                                              : json.is_number_integer() && json.get<std::int64_t>() >= Limits::min() &&
                                                    json.get<std::int64_t>() <= Limits::max();
  if (!fits) throw JsonError(fmt::format("{} is not a whole number of 32 bits", text_of(json, -1)));
  return json.get<int>();
}

std::string xml_escaped(std::string_view text) {
  // Bytes that are no UTF-8 become U+FFFD here; so do, below, the two characters that XML does not allow.
  std::string valid = Parsed::parse(text_of(Parsed(text), -1)).get<std::string>();
  for (const std::string_view forbidden : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
    for (std::size_t at = 0; (at = valid.find(forbidden, at)) != std::string::npos;)
      valid.replace(at, forbidden.size(), "\xEF\xBF\xBD");
  std::string safe;
  for (const char c : valid) {
    if (c == '&')
      safe += "&amp;";
    else if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '"')
      safe += "&quot;";
    else
      safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return safe;
}

}  // namespace tutti::apps
