#pragma once
// JSON of other libraries: values with their places, and complaints about them.

#include <string>
#include <string_view>

#include "lib/core/files/json_text.hpp"

namespace tutti::tool {

/// A file in JSON. All functions throw InputError that begins with "PATH:LINE:COLUMN: ".
class JsonFile {
 public:
  JsonFile(std::string_view text, std::string_view path);

  [[nodiscard]] const JsonValue& root() const { return root_; }
  [[noreturn]] void fail(TextPlace at, const std::string& why) const;
  /// The value of a key; nullptr: there is none. The value that is looked into has to be an object.
  [[nodiscard]] const JsonValue* find(const JsonValue& object, std::string_view key) const;
  [[nodiscard]] const JsonValue& need(const JsonValue& object, std::string_view key, JsonValue::Form form) const;
  /// A whole number from 0 to `most`; `fallback` if the key is not there.
  [[nodiscard]] std::int64_t number(const JsonValue& object, std::string_view key, std::int64_t most,
                                    std::int64_t fallback) const;
  void require(const JsonValue& value, JsonValue::Form form, std::string_view what) const;

 private:
  std::string path_;
  JsonValue root_;
};

}  // namespace tutti::tool
