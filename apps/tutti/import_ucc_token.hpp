#pragma once
// UCC's words: collectives, sizes and the tokens of a tuning string.

#include <optional>
#include <string_view>
#include <vector>

#include "lib/core/selection/rules.hpp"

namespace tutti::tool::ucc {

struct NamedCollective {
  std::string_view name, upper;          ///< As in tokens, and as in variables.
  std::optional<Collective> collective;  ///< Nothing: Tutti has no rules for it.
  std::optional<bool> is_uneven;
  /// The size that its rules go by: bytes of the larger buffer, a share of them, or none.
  enum class Size : std::uint8_t { whole, per_rank, none } size;
};
/// By the name of variables; nullptr: there is none.
[[nodiscard]] const NamedCollective* find_upper(std::string_view name);

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// Without blanks and quotation marks around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// "4", "4k", "16M", "inf".
[[nodiscard]] std::optional<std::int64_t> size_of(std::string_view text);
/// "0-4k" or "4"; both ends are in it.
[[nodiscard]] std::optional<Range> range_of(std::string_view text);

inline constexpr std::int64_t usual_score = 10;  ///< Of TL/UCP.

/// COLLECTIVE:SIZES:MEMORY:[RANKS]:SCORE:@ALGORITHM; parts that it lacks are open.
struct Token {
  std::vector<const NamedCollective*> collectives{};
  std::vector<Range> sizes{Range{}}, ranks{Range{}};
  std::vector<std::optional<AssumedMemory>> memories{std::nullopt};
  std::string_view algorithm{};
  std::int64_t score = usual_score;
};
/// Takes a part of a token; false: it is none.
[[nodiscard]] bool take(std::string_view part, Token& token);

}  // namespace tutti::tool::ucc
