#pragma once
// JSON whose values know where in the text they stand, so that complaints can say it.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// A place in a text; both numbers begin with 1.
struct TextPlace {
  int line = 1, column = 1;
};

struct JsonValue {
  enum class Form : std::uint8_t { null, boolean, integer, real, text, array, object };
  struct Member;

  Form form = Form::null;
  TextPlace place{};
  bool boolean = false;
  std::int64_t integer = 0;
  double real = 0;  ///< Of an integer, too.
  std::string text{};
  std::vector<JsonValue> items{};
  std::vector<Member> members;  ///< Without braces: clang 14 would need its elements here.
};
struct JsonValue::Member {
  std::string key;
  TextPlace place{};
  JsonValue value{};
};

/// A text that is no JSON, has a key twice in an object, an integer beyond 64 bits, or values deeper than 32 levels.
class JsonFault : public std::runtime_error {
 public:
  JsonFault(TextPlace where, const std::string& what) : std::runtime_error(what), place(where) {}
  TextPlace place;
};

/// Throws JsonFault. Cost: linear in the text.
[[nodiscard]] JsonValue parse_json(std::string_view text);

}  // namespace tutti
