#pragma once
// Files of rules: what they say, and where it is wrong. docs/rules.md describes the form for users.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/selection/rules.hpp"

namespace tutti {

inline constexpr int rules_version = 1;
/// Longer texts are no rules.
inline constexpr std::size_t longest_rule_file = std::size_t{4} << 20;
/// More rules would take long to compare with each other, and to look through in a call.
inline constexpr std::size_t most_rules = 4096;

/// The machines that a file is for. Every condition is optional.
struct FittingMachines {
  std::optional<std::string> cpu{}, gpu{}, mpi{}, network{};  ///< Patterns with * and ?, as those of shells.
  Range nodes{}, ppn{};                                       ///< Of the job.
};

/// A constant of a transport that differs from machine to machine. The others stay as they were built.
struct TunableConstant {
  std::string_view name;
  std::int64_t least, most;
  std::string_view meaning;
};
inline constexpr std::array<TunableConstant, 5> tunable_constants{
    TunableConstant{"shm.fast_path_bytes", 0, 65536, "plans whose messages are no longer run on the fast path"},
    TunableConstant{"shm.copied_bytes", 0, 1 << 20,
                    "data to several ranks are copied for each up to so many bytes in all"},
    TunableConstant{"shm.joined_bytes", 0, 1 << 20, "messages of up to so many bytes are reduced one by one"},
    TunableConstant{"device.chunk_bytes", 4096, 1 << 30,
                    "staged data leave and reach a device in chunks of so many bytes"},
    TunableConstant{"device.copied_in_place", 0, 1 << 30,
                    "allreduces in place of up to so many bytes copy their input"}};

/// The constants that a file sets.
struct TunedConstants {
  std::vector<std::pair<std::string, std::int64_t>> values{};
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
};

/// Something that is allowed, but seldom meant.
struct RuleWarning {
  int line = 1, column = 1;
  std::string text{};
};

struct RuleFile {
  std::string path{};
  std::vector<std::pair<std::string, std::string>> made{};  ///< Where, when and by what it was made, in its order.
  FittingMachines machines{};
  bool is_simulated = false;  ///< The times are those of a simulated device.
  std::vector<Rule> rules{};
  TunedConstants tuning{};
  std::vector<RuleWarning> warnings{};
};

/// Reads the text of a file of rules; `path` names it in the reasons of its rules. Throws ArgumentError that begins
/// with "PATH:LINE:COLUMN: " and says what was found and what is allowed.
[[nodiscard]] RuleFile read_rule_file(std::string_view text, std::string_view path);

/// The rules that Tutti has where a site has none of its own: builtin.json. For each collective one fits every call.
[[nodiscard]] const RuleTable& builtin_rules();
/// The file that they stand in, word for word.
[[nodiscard]] std::string_view builtin_text();

}  // namespace tutti
