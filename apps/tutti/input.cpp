#include "apps/tutti/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <iterator>
#include <stdexcept>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {

using apps::InputError;

bool is_told(apps::Options& options, const std::vector<std::string>& arguments) {
  const auto text = options.parse(arguments);
  if (text) apps::print(*text);
  return text.has_value();
}

std::string allowed(std::string_view name, const std::vector<std::string>& names) {
  return fmt::format("allowed: {}{}", fmt::join(names, ", "), suggestion(name, names));
}

Collective read_collective(std::string_view name) {
  if (const auto collective = find_collective(name)) return *collective;
  std::vector<std::string> names;
  names.reserve(collective_count);
  for (int collective = 0; collective < collective_count; ++collective)
    names.emplace_back(to_string(static_cast<Collective>(collective)));
  throw InputError(fmt::format("'{}' is no collective; {}", name, allowed(name, names)));
}

Choice read_algorithm(Collective collective, std::string_view text) try {
  if (text.starts_with(file_prefix)) throw InputError(fmt::format("'{}': here files are named by --file", text));
  return read_choice(collective, text);
} catch (const std::invalid_argument& error) {
  throw InputError(error.what());
}

std::string read_text(const std::string& path) {
  if (path != "-") return apps::read_file(path, longest_schedule_file);
  return {std::istreambuf_iterator<char>{std::cin}, {}};
}

ScheduleFile read_schedules(const std::string& path) try {
  return read_schedule_file(read_text(path), path == "-" ? "standard input" : path);
} catch (const ArgumentError& error) {
  throw InputError(error.what());
}

Count read_count(std::string_view text) try {
  return Count{apps::parse_bytes(text).value()};
} catch (const InputError&) {
  throw InputError(fmt::format("'{}' is no count: elements, or with K, M or G, as in 24, 64K, 1M", text));
}

void add_count(apps::Options& options, Count& count) {
  options.custom("count,n", "N", fmt::format("{}", count.value()),
                 "elements: of the whole vector, or of one rank's block where there is one per rank",
                 [&count](std::string_view given) { count = read_count(given); });
}

void add_counts(apps::Options& options, std::vector<Count>& counts) {
  std::vector<std::int64_t> shown;
  shown.reserve(counts.size());
  for (const Count count : counts)
    shown.push_back(count.value());
  options.custom("counts,n", "N,N,...", fmt::format("{}", fmt::join(shown, ",")),
                 "elements: of the whole vector, or of one rank's block where there is one per rank",
                 [&counts](std::string_view given) {
                   std::vector<Count> read;
                   for (const std::string& item : apps::split_list(given))
                     read.push_back(read_count(item));
                   counts = std::move(read);
                 });
}

namespace {

/// "--NAME N,N,...": how many ranks each of some groups has, one after the other, "4x32" for four of 32; `groups` gets
/// the group of each rank.
void add_groups(apps::Options& options, const char* name, const char* fallback, const char* what,
                std::vector<int>& groups) {
  options.custom(name, "N,N,...|KxN", fallback, what, [&groups](std::string_view given) {
    constexpr std::int64_t most = 1 << 20;
    groups.clear();
    for (int group = 0; const std::string& item : apps::split_list(given)) {
      const std::size_t times = item.find('x');
      const std::int64_t count = times == std::string::npos ? 1 : apps::parse_integer(item.substr(0, times), 1, most);
      const std::int64_t ranks =
          apps::parse_integer(times == std::string::npos ? item : item.substr(times + 1), 1, most);
      if (static_cast<std::int64_t>(groups.size()) + count * ranks > most)
        throw InputError(fmt::format("there are more ranks than allowed: {} in all", most));
      for (std::int64_t number = 0; number < count; ++number)
        groups.insert(groups.end(), static_cast<std::size_t>(ranks), group++);
    }
  });
}

void require_ranks(int ranks, const char* name, const std::vector<int>& groups) {
  if (!groups.empty() && groups.size() != static_cast<std::size_t>(ranks))
    throw InputError(fmt::format("--{} has {} ranks in all, --ranks {}", name, groups.size(), ranks));
}

}  // namespace

void add_nodes(apps::Options& options, std::vector<int>& nodes) {
  add_groups(options, "nodes", "one node",
             "ranks on each node, for algorithms of several levels; in all as many as --ranks", nodes);
}

void add_levels(apps::Options& options, Spread& spread) {
  add_nodes(options, spread.nodes);
  add_groups(options, "sockets", "one a node",
             "ranks on each socket, for algorithms of three levels, in the order of nodes", spread.sockets);
}

void require_levels_of(int ranks, const Spread& spread) {
  require_ranks(ranks, "nodes", spread.nodes);
  require_ranks(ranks, "sockets", spread.sockets);
  if (spread.sockets.empty() || spread.nodes.empty()) return;
  for (std::size_t rank = 1; rank < spread.nodes.size(); ++rank)
    if (spread.nodes[rank] != spread.nodes[rank - 1] && spread.sockets[rank] == spread.sockets[rank - 1])
      throw InputError(
          fmt::format("--sockets has ranks {} and {} on one socket, --nodes on different nodes", rank - 1, rank));
}

std::vector<const Algorithm*> algorithms_of(Collective collective) {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective) found.push_back(algorithm);
  return found;
}

}  // namespace tutti::tool
