#pragma once
// What a call would run, here or on another machine.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/core/schedule/choice.hpp"
#include "lib/core/selection/rules.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tool {

/// The rules of a site, and whatever the user should know of them.
struct Site {
  std::optional<SiteRules> rules{};
  std::vector<std::string> notes{};
  FiledAlgorithms files{};  ///< Those that the rules of the question's collective name.
  [[nodiscard]] const RuleTable* table() const { return rules ? &rules->table : nullptr; }
};

/// `path`: the file of the rules; "none": the built-in ones alone; empty: those that a job of the question's form would
/// find here. Throws InputError if a file is wrong.
[[nodiscard]] Site site_of(const std::string& path, const Question& question);

/// Reads and proves a file that a rule or a setting names. Throws InputError if it cannot be used.
[[nodiscard]] std::unique_ptr<const FiledAlgorithm> proved_file(const Algorithm& named);

/// Adds the file that an algorithm stands for, if it stands for one; if that cannot be used, a note.
void add_file(const Algorithm* algorithm, FiledAlgorithms& files, std::vector<std::string>& notes);

/// Bytes of the larger buffer, of which each rank has a block in collectives that have blocks; and back, rounded down.
[[nodiscard]] std::int64_t bytes_of(Collective collective, int ranks, Count count, std::int64_t element);
[[nodiscard]] Count count_of(Collective collective, int ranks, std::int64_t bytes, std::int64_t element);
/// The choice with its parameter and segment in elements, as schedules have them, instead of bytes.
[[nodiscard]] Choice in_elements(Choice choice, std::int64_t element);
/// A blocking call on host memory of ranks on these nodes, as in Problem; on one node they share memory.
[[nodiscard]] Question blocking_call(Collective collective, int ranks, std::span<const int> nodes, std::int64_t bytes);

}  // namespace tutti::tool
