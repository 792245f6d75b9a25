#pragma once
// Rules of other libraries, read from their files and turned into Tutti's.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/selection/rule_file.hpp"
#include "lib/core/selection/rules.hpp"

namespace tutti::tool {

/// The libraries whose algorithms have names of their own.
enum class Library : std::uint8_t { openmpi, mpich, ucc, nccl };

/// Numbers that another library's rule gives with its algorithm. 0: none.
struct ForeignNumbers {
  std::int64_t radix = 0;    ///< Fan-out of a tree, or radix.
  std::int64_t segment = 0;  ///< In bytes.
  std::int64_t window = 0;   ///< Messages under way at the same time.
};

/// What an algorithm of another library is here: an algorithm, or the reason why there is none.
struct ForeignName {
  Library library;
  Collective collective;
  int id;  ///< The number that its files may give; -1: none.
  std::string_view name;
  std::string_view use;     ///< As in a rule; empty: Tutti has none.
  std::string_view remark;  ///< Why there is none, or in what Tutti's differs.
  enum class Carries : std::uint8_t { nothing, radix, segment, both, window };
  Carries carries = Carries::nothing;  ///< Which of the numbers Tutti's algorithm takes.
};
/// All of them, those of a library and a collective together.
[[nodiscard]] std::span<const ForeignName> foreign_names();
/// nullptr: the name is not known.
[[nodiscard]] const ForeignName* find_foreign(Library library, Collective collective, std::string_view name);
[[nodiscard]] const ForeignName* find_foreign(Library library, Collective collective, int id);

/// A rule of another library. Rules are in the order in which they count: the first that fits.
struct ForeignRule {
  int line = 1;
  Collective collective = Collective::barrier;
  Conditions when{};
  std::string told{};              ///< "allreduce, segmented_ring": for the report.
  std::optional<Choice> choice{};  ///< Nothing: the rule is refused.
  std::string remark{};            ///< Why it is refused, or in what Tutti's rule differs.
  /// `when` says all that the rule does. The calls of a refused rule then go to no later one. If not, they do, as
  /// nobody can say here which they are.
  bool is_exact = true;
  bool is_silent = false;  ///< No rule of the file, but calls that those that follow are not for.
};

/// Sets the rule's choice and remark by what its algorithm is here.
void choose_for(ForeignRule& rule, const ForeignName* name, std::string_view told, const ForeignNumbers& numbers);

struct ForeignFile {
  std::vector<ForeignRule> rules{};
  std::vector<std::string> notes{};  ///< Of the file as a whole.
};

/// More rules are refused as a whole.
inline constexpr std::size_t most_foreign_rules = 4096;

// Readers. All throw InputError, which begins with "PATH:LINE:COLUMN: " or "PATH:LINE: ".

/// Open MPI's classic files (coll_tuned_dynamic_rules_filename).
[[nodiscard]] ForeignFile read_openmpi_rules(std::string_view text, std::string_view path);
/// Those of Open MPI 6, in JSON.
[[nodiscard]] ForeignFile read_openmpi_json_rules(std::string_view text, std::string_view path);
/// MPICH's selection in JSON (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE).
[[nodiscard]] ForeignFile read_mpich_rules(std::string_view text, std::string_view path);
/// UCC's: a value of UCC_TL_UCP_TUNE, or a file as ucc.conf, of which the sections for `model` count ("skylake").
[[nodiscard]] ForeignFile read_ucc_rules(std::string_view text, std::string_view path, std::string_view model);
/// NCCL's: the CSV of its tuner, and that of NCCLX.
[[nodiscard]] ForeignFile read_nccl_rules(std::string_view text, std::string_view path);
/// NCCLX's in JSON.
[[nodiscard]] ForeignFile read_ncclx_json_rules(std::string_view text, std::string_view path);

/// The calls of `from` that are none of `hole`, as conditions of which no two hold for one call. One condition at a
/// time is turned around, so that sizes per rank that are no whole number may be in none.
[[nodiscard]] std::vector<Conditions> without(const Conditions& from, const Conditions& hole);

struct Translation {
  RuleFile file{};
  std::size_t read = 0, translated = 0, refused = 0;
  std::vector<std::string> report{};  ///< A line for each rule that was refused, or is here another one in part.
};
/// Tutti's rules. Throws InputError if they would be too many.
[[nodiscard]] Translation translate(const ForeignFile& foreign, std::string_view path);

}  // namespace tutti::tool
