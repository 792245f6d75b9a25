#pragma once
// Files in JSON, read key by key. Complaints name the file and the place, what was found and what is allowed.

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/files/json_text.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// All functions throw ArgumentError that begins with "PATH:LINE:COLUMN: ".
class JsonReader {
 public:
  /// A key that is allowed in an object, and who reads its value.
  struct Key {
    std::string_view name;
    std::function<void(const JsonValue&)> read;
  };

  explicit JsonReader(std::string_view path) : path_(path) {}

  /// The value of the whole text, which may be no longer than `most` bytes.
  [[nodiscard]] JsonValue parsed(std::string_view text, std::size_t most) const;
  /// Has each member of an object read by its key.
  void read_object(const JsonValue& object, std::string_view what, const std::vector<Key>& keys) const;

  [[nodiscard]] bool boolean(const JsonValue& value, std::string_view key) const;
  [[nodiscard]] const std::string& text(const JsonValue& value, std::string_view key) const;
  [[nodiscard]] std::int64_t integer(const JsonValue& value, std::string_view key, std::int64_t least,
                                     std::int64_t most) const;
  /// A number from 0 to `most`.
  [[nodiscard]] double positive(const JsonValue& value, std::string_view key,
                                double most = std::numeric_limits<double>::infinity()) const;
  /// The place of a name in a list of them.
  [[nodiscard]] std::size_t name(const JsonValue& value, std::string_view key,
                                 const std::vector<std::string>& names) const;
  [[nodiscard]] const std::vector<JsonValue>& array(const JsonValue& value, std::string_view key,
                                                    std::size_t most) const;

  [[noreturn]] void fail(TextPlace at, const std::string& why) const;
  [[noreturn]] void refuse(const JsonValue& value, std::string_view key, std::string_view allowed) const;

 private:
  std::string path_;
};

}  // namespace tutti
