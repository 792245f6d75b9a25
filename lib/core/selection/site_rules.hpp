#pragma once
// The rules of a site: which file has them, and the file made ready for use. Needs no MPI.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/core/selection/rule_file.hpp"
#include "lib/core/selection/rules.hpp"

namespace tutti {

/// The facts that a file's machines are compared with: those of rank 0, and the form of the job.
struct SiteFacts {
  std::string cpu{}, gpu{}, mpi{}, network{};  ///< The names that the parts give themselves; empty: not known, or none.
  int nodes = 1, ppn = 1;                      ///< `nodes` 0: the form of the job is not known.
  bool is_simulated = false;                   ///< The CUDA driver is the fake one, whose times mean nothing.
};

/// Why the file is not for the machine: "for cpu 'AMD*', and this one has 'Intel ...'"; empty: it is.
[[nodiscard]] std::string why_unfit(const RuleFile& file, const SiteFacts& machine);
/// How closely a file says which machines it is for: of several that fit, the one with the most counts.
struct Closeness {
  int conditions = 0;
  std::int64_t width = 0;  ///< Of the ranges of nodes and ppn: the smaller one is closer.
  [[nodiscard]] bool is_closer_than(const Closeness& other) const {
    return conditions != other.conditions ? conditions > other.conditions : width < other.width;
  }
};
[[nodiscard]] Closeness closeness_of(const FittingMachines& machines);

/// Where files of rules are looked for.
struct RulePlaces {
  /// TUTTI_RULES: files, separated by colons, of which one has to fit; "none": no rules but the built-in ones; empty:
  /// the folders say.
  std::string named{};
  /// Folders with files *.json. The first one with a file that fits counts.
  std::vector<std::string> folders{};
};
/// TUTTI_RULES; then the folders of the user ($XDG_CONFIG_HOME or ~/.config, tutti/rules.d), and of the installation
/// (PREFIX/etc/tutti/rules.d, and /etc/tutti/rules.d).
[[nodiscard]] RulePlaces usual_rule_places();

struct FoundRules {
  std::string path{}, text{};
  std::vector<std::string> notes{};  ///< For the user: files that fit equally well.
};
/// The text of the file that fits the machine, of several the closest; nothing if there is none. Throws ArgumentError,
/// which names the file, if one cannot be read or is wrong, or if files are named of which none fits.
[[nodiscard]] std::optional<FoundRules> find_rules(const RulePlaces& places, const SiteFacts& machine);
/// Whether there is any file to look at, named or in the folders.
[[nodiscard]] bool has_candidates(const RulePlaces& places);
/// The text of a file. Throws ArgumentError that says why it cannot be read.
[[nodiscard]] std::string read_rule_text(const std::string& path);

/// A file of rules, ready for use: the rules' reasons name their lines, and what was measured.
struct SiteRules {
  RuleFile file;  ///< Its rules are in the table.
  RuleTable table;
  explicit SiteRules(RuleFile read);
};

/// A number for the algorithms and the built-in rules of this library: another version has another one.
[[nodiscard]] std::uint64_t catalogue_hash();
/// The name that the processors of this machine give themselves; empty: not known.
[[nodiscard]] std::string processor_name();

}  // namespace tutti
