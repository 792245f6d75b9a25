#pragma once
// Rules in words, and the files that they come from.

#include <string>

#include "lib/core/selection/rules.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tool {

/// "8", "2 to 8", "8 and more", "up to 8"; `open` if all numbers are in it.
[[nodiscard]] std::string range_text(const Range& range, const char* open = "any");
/// The sizes of a rule: "up to 2048", "4096 and more per rank".
[[nodiscard]] std::string sizes_text(const Conditions& when);
/// Conditions other than those on ranks, nodes and sizes: "device memory, not commutative".
[[nodiscard]] std::string facts_text(const Conditions& when);
/// "1.31 times the default, 1.07 times ring", as far as it was measured; empty: it was not.
[[nodiscard]] std::string gain_text(const Measured& measured);
/// Why the rule does not serve: its first condition that does not hold, or else its algorithm; empty: it does.
[[nodiscard]] std::string why_passed_over(const Rule& rule, const Question& question);
/// Whether blocks may be listed: a call with blocks of differing sizes exists.
[[nodiscard]] bool may_be_uneven(Collective collective);
/// Whether all ranks know how many bytes there are; if not, Question::bytes is negative.
[[nodiscard]] bool is_size_known(Collective collective, bool is_uneven);
/// Whether there may be calls for which both hold.
[[nodiscard]] bool may_meet(const Conditions& a, const Conditions& b);

/// The rules of a file; those built in if the path is "builtin". Throws InputError, which says where the file is wrong.
[[nodiscard]] RuleFile load_rules(const std::string& path);

/// The facts of this machine that files of rules are compared with; the form of the job is not known. One of two files
/// is built: with MPI (rule_machine_mpi.cpp), or without (rule_machine_alone.cpp), where no name of an MPI is known.
[[nodiscard]] SiteFacts machine_here();

}  // namespace tutti::tool
