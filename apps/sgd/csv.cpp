#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/sgd/data_set.hpp"

namespace tutti::sgd {

namespace {

constexpr int digit_features = 64, digit_classes = 10, digit_white = 16;

/// The next part of `text` up to `separator`, which is taken off it; nothing at the end.
std::optional<std::string_view> next_part(std::optional<std::string_view>& text, char separator) {
  if (!text) return std::nullopt;
  const auto end = text->find(separator);
  const auto part = text->substr(0, end);
  if (end == std::string_view::npos) {
    text.reset();
  } else {
    text->remove_prefix(end + 1);
  }
  return part;
}

/// One line of the file, with its number for messages.
class Row {
 public:
  Row(const std::string& file, int number, std::string_view text) : file_(file), number_(number), text_(text) {}

  /// A value from 0 to `most`; `what` describes it.
  std::uint8_t next(int column, int most, std::string_view what) {
    const auto field = next_part(text_, ',');
    if (!field) fail(fmt::format("{} values", digit_features + 1), fmt::format("{}", column - 1));
    int value = 0;
    const char* const end = field->data() + field->size();
    const auto [stop, status] = std::from_chars(field->data(), end, value);
    if (status != std::errc{} || stop != end || value < 0 || value > most) {
      fail(fmt::format("{} from 0 to {} in column {}", what, most, column), fmt::format("'{}'", field->substr(0, 40)));
    }
    return static_cast<std::uint8_t>(value);
  }
  void require_end() {
    if (text_) fail(fmt::format("{} values", digit_features + 1), "more");
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    throw apps::InputError(fmt::format("{}, line {}: expected {} (a line is 64 pixels and a label), found {}", file_,
                                       number_, expected, found));
  }
  const std::string& file_;
  int number_;
  std::optional<std::string_view> text_;
};

}  // namespace

DataSet read_csv(const std::string& path) { return parse_csv(path, apps::read_file(path)); }

DataSet parse_csv(const std::string& name, std::string_view bytes) {
  DataSet data{name, digit_features, digit_classes, digit_white, {}, {}};
  if (bytes.ends_with('\n')) bytes.remove_suffix(1);
  if (bytes.empty()) throw apps::InputError(fmt::format("{}: the file is empty", name));
  std::optional<std::string_view> lines{bytes};
  for (int number = 1; auto line = next_part(lines, '\n'); ++number) {
    if (line->ends_with('\r')) line->remove_suffix(1);
    Row row{name, number, *line};
    for (int column = 1; column <= digit_features; ++column) {
      data.pixels.push_back(row.next(column, digit_white, "a pixel"));
    }
    data.labels.push_back(row.next(digit_features + 1, digit_classes - 1, "a label"));
    row.require_end();
  }
  return data;
}

}  // namespace tutti::sgd
