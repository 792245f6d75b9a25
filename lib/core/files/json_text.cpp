#include "lib/core/files/json_text.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace tutti {
namespace {

using Json = nlohmann::json;

/// Reads characters, and counts them where others see it.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*read_;
    return *this;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* read_;
};

/// Makes the values of a text, as the library's parser finds them.
class Builder {
 public:
  explicit Builder(std::string_view text) : text_(text) {}

  JsonValue built() && {
    CountingIterator first{text_.data(), &read_}, last{text_.data() + text_.size(), &read_};
    Json::sax_parse(first, last, this);
    return std::move(root_);
  }

  bool null() { return add({}); }
  bool boolean(bool value) {
    JsonValue made = of(JsonValue::Form::boolean);
    made.boolean = value;
    return add(std::move(made));
  }
  bool number_integer(std::int64_t value) {
    JsonValue made = of(JsonValue::Form::integer);
    made.integer = value;
    made.real = static_cast<double>(value);
    return add(std::move(made));
  }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      throw JsonFault(next(), "an integer of more than 63 bits");
    return number_integer(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& text) {
    if (text.find_first_of(".eE") == std::string::npos) throw JsonFault(next(), "an integer of more than 63 bits");
    JsonValue made = of(JsonValue::Form::real);
    made.real = value;
    return add(std::move(made));
  }
  bool string(std::string& value) {
    JsonValue made = of(JsonValue::Form::text);
    made.text = std::move(value);
    return add(std::move(made));
  }
  bool binary(Json::binary_t& /*value*/) { return false; }  // text has none
  bool start_object(std::size_t /*size*/) { return open(of(JsonValue::Form::object)); }
  bool start_array(std::size_t /*size*/) { return open(of(JsonValue::Form::array)); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& name) {
    const TextPlace where = next();
    std::vector<JsonValue::Member>& members = open_.back()->members;
    const auto has_name = [&](const JsonValue::Member& member) { return member.key == name; };
    if (std::any_of(members.begin(), members.end(), has_name))
      throw JsonFault(where, "the key '" + name + "' comes twice");
    members.push_back({std::move(name), where, {}});
    end_ = read_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/, const Json::exception& /*error*/) {
    const std::size_t at = position > 0 ? position - 1 : 0;
    const bool is_over = at >= text_.size();
    throw JsonFault(place_of(std::min(at, text_.size())), is_over ? "no JSON: the text ends too early" : "no JSON");
  }

 private:
  static constexpr std::size_t deepest = 32;

  static JsonValue of(JsonValue::Form form) {
    JsonValue value;
    value.form = form;
    return value;
  }

  /// Where the token begins that has just been read: behind blanks and punctuation after the one before.
  TextPlace next() const {
    const std::size_t begin = text_.find_first_not_of(" \t\r\n,:", end_);
    return place_of(std::min(begin, text_.size()));
  }
  /// The tokens come one after the other, so that lines are counted once.
  TextPlace place_of(std::size_t at) const {
    for (; counted_ < at; ++counted_) {
      if (text_[counted_] != '\n') continue;
      ++line_;
      line_begin_ = counted_ + 1;
    }
    return {line_, static_cast<int>(at - std::min(at, line_begin_)) + 1};
  }
  JsonValue& place_for_value() {
    if (open_.empty()) return root_;
    if (open_.back()->form == JsonValue::Form::array) return open_.back()->items.emplace_back();
    return open_.back()->members.back().value;
  }
  bool add(JsonValue value) {
    value.place = next();
    const bool ends_with_itself = value.form == JsonValue::Form::integer || value.form == JsonValue::Form::real;
    place_for_value() = std::move(value);
    end_ = ends_with_itself ? read_ - 1 : read_;  // to see where a number ends, one character more is read
    return true;
  }
  bool open(JsonValue value) {
    if (open_.size() == deepest) throw JsonFault(next(), "values deeper than 32 levels");
    value.place = next();
    JsonValue& made = place_for_value();
    made = std::move(value);
    open_.push_back(&made);
    end_ = read_;
    return true;
  }
  bool close() {
    open_.pop_back();
    end_ = read_;
    return true;
  }

  std::string_view text_;
  std::size_t read_ = 0, end_ = 0;  ///< Characters that were read, and those up to the end of the last token.
  JsonValue root_{};
  std::vector<JsonValue*> open_{};
  mutable std::size_t counted_ = 0, line_begin_ = 0;
  mutable int line_ = 1;
};

}  // namespace

JsonValue parse_json(std::string_view text) { return Builder{text}.built(); }

}  // namespace tutti
