#pragma once
// How the commands read what they are given. All throw InputError, which says what is allowed.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/options.hpp"
#include "lib/schedule/choice.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::tool {

/// Whether help or the version was asked for and printed; else the options are set.
[[nodiscard]] bool is_told(apps::Options& options, const std::vector<std::string>& arguments);

/// "allowed: ring, linear (did you mean ring?)"
[[nodiscard]] std::string allowed(std::string_view name, const std::vector<std::string>& names);

[[nodiscard]] Collective read_collective(std::string_view name);
/// "ring", "knomial:4/8K"
[[nodiscard]] Choice read_algorithm(Collective collective, std::string_view text);
/// "24", "64K": elements.
[[nodiscard]] Count read_count(std::string_view text);
/// "--count N": one or several of them.
void add_count(apps::Options& options, Count& count);
void add_counts(apps::Options& options, std::vector<Count>& counts);

/// "--nodes N,N,...": how many ranks each node has, one node after the other; `nodes` as in Problem. Empty: one node.
void add_nodes(apps::Options& options, std::vector<int>& nodes);
/// Refuses nodes that do not have so many ranks.
void require_nodes_of(int ranks, const std::vector<int>& nodes);

/// The algorithms of a collective.
[[nodiscard]] std::vector<const Algorithm*> algorithms_of(Collective collective);

}  // namespace tutti::tool
