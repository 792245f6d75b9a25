#pragma once
// How the commands read their arguments. All functions throw InputError, which says what is allowed.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/options.hpp"
#include "lib/core/files/schedule_file.hpp"
#include "lib/core/schedule/choice.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::tool {

/// Whether help or the version was asked for and printed; else the options are set.
[[nodiscard]] bool is_told(apps::Options& options, const std::vector<std::string>& arguments);

/// "allowed: ring, linear (did you mean ring?)"
[[nodiscard]] std::string allowed(std::string_view name, const std::vector<std::string>& names);

[[nodiscard]] Collective read_collective(std::string_view name);
/// "ring", "knomial:4/8K"
[[nodiscard]] Choice read_algorithm(Collective collective, std::string_view text);
/// The text of a file; "-": of standard input.
[[nodiscard]] std::string read_text(const std::string& path);
/// The schedules of a file, not proved yet; "-": of standard input.
[[nodiscard]] ScheduleFile read_schedules(const std::string& path);
/// "24", "64K": elements.
[[nodiscard]] Count read_count(std::string_view text);
/// "--count N": one or several of them.
void add_count(apps::Options& options, Count& count);
void add_counts(apps::Options& options, std::vector<Count>& counts);

/// The node and the socket of each rank, as in Problem. Empty: one node; one socket a node.
struct Spread {
  std::vector<int> nodes, sockets;
};
/// "--nodes N,N,...": how many ranks each has, one after the other ("128x32": 128 of them 32 each); `nodes` gets the
/// node of each rank.
void add_nodes(apps::Options& options, std::vector<int>& nodes);
/// "--nodes N,N,..." and "--sockets N,N,...": how many ranks each has, one after the other.
void add_levels(apps::Options& options, Spread& spread);
/// Refuses levels that do not have `ranks` ranks, and sockets that several nodes share.
void require_levels_of(int ranks, const Spread& spread);

/// The algorithms of a collective.
[[nodiscard]] std::vector<const Algorithm*> algorithms_of(Collective collective);

}  // namespace tutti::tool
