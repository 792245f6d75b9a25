#include "lib/core/communicator/bits_use.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>

#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr std::string_view record = "record:", compare = "compare:", deep = ":deep";
constexpr std::int64_t usual_deep = std::int64_t{1} << 30;
constexpr std::size_t longest_folder = 4000;

/// One reading of the text.
class Reading {
 public:
  Reading(std::string_view source, std::string_view given) : source_(source), given_(given) {}

  BitsUse read() {
    for (std::string_view rest = given_; !rest.empty() || use_is_open_;) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      take(rest.substr(0, comma));
      use_is_open_ = comma < rest.size();
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    if (!use_.files.empty() && use_.files.record == use_.files.compare)
      refuse("the folder to record in is the one to compare with", "two folders");
    return use_;
  }

 private:
  [[noreturn]] void refuse(std::string_view why, std::string_view allowed) const {
    throw ArgumentError(fmt::format("{} is '{}': {}; allowed: {}", source_, given_, why, allowed));
  }
  void take(std::string_view item);
  void take_order(Bits bits) {
    if (has_order_) refuse("an order comes twice", "same or fixed, once");
    has_order_ = true;
    use_.bits = bits;
  }
  [[nodiscard]] std::string folder(std::string_view text, const std::string& before) const {
    if (!before.empty()) refuse("a folder comes twice", "one folder to record in, and one to compare with");
    if (text.empty()) refuse("a folder is missing", "record:DIR, compare:DIR");
    if (text.size() > longest_folder)
      refuse(fmt::format("a folder of {} characters", text.size()), fmt::format("up to {}", longest_folder));
    return std::filesystem::absolute(text).lexically_normal();
  }
  void take_record(std::string_view text);
  [[nodiscard]] std::int64_t bytes(std::string_view text) const;

  std::string_view source_, given_;
  BitsUse use_{};
  bool has_order_ = false;
  bool use_is_open_ = false;  ///< A comma came last: an item has to follow.
};

void Reading::take(std::string_view item) {
  if (item == bits_names[0]) return take_order(Bits::same);
  if (item == bits_names[1]) return take_order(Bits::fixed);
  if (item.starts_with(record)) return take_record(item.substr(record.size()));
  if (item.starts_with(compare)) {
    use_.files.compare = folder(item.substr(compare.size()), use_.files.compare);
    return;
  }
  refuse(fmt::format("'{}' is unknown", item),
         "same, fixed, record:DIR, record:DIR:deep, record:DIR:deep=SIZE, compare:DIR, separated by commas");
}

void Reading::take_record(std::string_view text) {
  std::int64_t most = 0;
  if (text.ends_with(deep)) {
    text.remove_suffix(deep.size());
    most = usual_deep;
  } else if (const std::size_t at = text.rfind(":deep="); at != std::string_view::npos) {
    most = bytes(text.substr(at + deep.size() + 1));
    text = text.substr(0, at);
  } else if (const std::size_t colon = text.rfind(':');
             colon != std::string_view::npos && text.find('/', colon) == std::string_view::npos) {
    refuse(fmt::format("'{}' at the end of a folder is no ':deep' or ':deep=SIZE'", text.substr(colon)),
           "record:DIR, record:DIR:deep, record:DIR:deep=SIZE; a folder whose name has a colon, with a / behind it");
  }
  use_.files.record = folder(text, use_.files.record);
  use_.files.deep = most;
}

std::int64_t Reading::bytes(std::string_view text) const {
  constexpr std::string_view units = "KMGT";
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  const std::size_t place = unit.size() == 1 ? units.find(unit) : std::string_view::npos;
  const std::size_t shift = unit.empty() ? 0 : 10 * (place + 1);
  const bool is_unit = unit.empty() || place != std::string_view::npos;
  if (error != std::errc{} || !is_unit || number < 1 || number > std::numeric_limits<std::int64_t>::max() >> shift)
    refuse(fmt::format("'{}' is no size", text), "deep=SIZE: a number of bytes, as 4096, 64M or 4G");
  return number << shift;
}

}  // namespace

BitsUse read_bits(std::string_view source, std::string_view given) { return Reading{source, given}.read(); }

std::string to_text(const BitsFiles& files) {
  std::string text;
  if (!files.record.empty()) {
    text = fmt::format("{}{}", record, files.record);
    if (files.deep > 0) text += fmt::format("{}={}", deep, files.deep);
  }
  if (!files.compare.empty()) text += fmt::format("{}{}{}", text.empty() ? "" : ",", compare, files.compare);
  return text;
}

}  // namespace tutti
