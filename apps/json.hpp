#pragma once
// Values of JSON, for reports and files. The library that makes and reads the text is behind json.cpp: its header alone
// takes seconds to compile.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::apps {

/// Text that is no JSON, or a value that is not of the kind asked for. The text says which.
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// null, true or false, a number, a text, an array, or an object whose members keep their order.
///
///     Json json{{"ranks", 4}, {"host", host}, {"root", root}};   // an object; root may be a std::optional
///     json.set("times", times);                                  // a std::vector becomes an array
class Json {
 public:
  struct Member;

  Json();  ///< null
  Json(std::nullptr_t /*null*/);
  template <std::same_as<bool> T>
  Json(T value) : Json(of_bool(value)) {}
  template <std::signed_integral T>
  Json(T value) : Json(of_signed(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) Json(T value) : Json(of_unsigned(value)) {}
  Json(double value);
  Json(std::string_view text);
  Json(const char* text) : Json(std::string_view{text}) {}
  Json(const std::string& text) : Json(std::string_view{text}) {}
  template <class T>
  requires std::convertible_to<const T&, Json> Json(const std::vector<T>& values) : Json(array()) {
    for (const auto& value : values)
      push_back(value);
  }
  /// null if there is none.
  template <class T>
  requires std::convertible_to<const T&, Json> Json(const std::optional<T>& value)
      : Json(value ? Json(*value) : Json()) {}
  /// An object.
  Json(std::initializer_list<Member> members);
  [[nodiscard]] static Json array();
  [[nodiscard]] static Json object();

  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(Json other) noexcept;
  ~Json();

  /// Appends to an array.
  void push_back(Json value);
  /// Adds a member to an object, or replaces it.
  void set(std::string_view name, Json value);
  /// Adds the members of another object, or replaces them.
  void update(const Json& other);

  /// JSON has to be UTF-8, names of files and hosts need not be: other bytes become U+FFFD. `indent` blanks a level;
  /// -1: one line.
  [[nodiscard]] std::string text(int indent) const;

  /// Throws JsonError, as all that follow.
  [[nodiscard]] static Json parse(const std::string& text);
  [[nodiscard]] Json at(std::string_view name) const;  ///< A member of an object.
  /// The same; nothing if the object has none of that name, or if it is null.
  [[nodiscard]] std::optional<Json> find(std::string_view name) const;
  [[nodiscard]] std::vector<Json> items() const;  ///< The elements of an array.
  [[nodiscard]] std::string as_text() const;
  [[nodiscard]] double as_number() const;
  [[nodiscard]] bool as_bool() const;
  /// A whole number that fits.
  [[nodiscard]] int as_int() const;

 private:
  struct Value;
  explicit Json(std::unique_ptr<Value> value);
  [[nodiscard]] static Json of_bool(bool value);
  [[nodiscard]] static Json of_signed(std::int64_t value);
  [[nodiscard]] static Json of_unsigned(std::uint64_t value);
  std::unique_ptr<Value> value_;
};

struct Json::Member {
  std::string_view name;
  mutable Json value;  ///< Moved from by the object that it becomes a part of.
};

/// A text as it stands in XML and HTML, also between quotation marks. Control characters become blanks.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace tutti::apps
