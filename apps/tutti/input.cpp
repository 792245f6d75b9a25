#include "apps/tutti/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

namespace tutti::tool {

using apps::InputError;

bool is_told(apps::Options& options, const std::vector<std::string>& arguments) {
  const auto text = options.parse(arguments);
  if (text) fmt::print("{}", *text);
  return text.has_value();
}

std::string allowed(std::string_view name, const std::vector<std::string>& names) {
  const std::vector<std::string> near = near_names(name, names);
  const std::string hint = near.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(near, ", "));
  return fmt::format("allowed: {}{}", fmt::join(names, ", "), hint);
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
  return read_choice(collective, text);
} catch (const std::invalid_argument& error) {
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

void add_nodes(apps::Options& options, std::vector<int>& nodes) {
  constexpr int most = 1 << 20;
  options.custom("nodes", "N,N,...", "one node",
                 "ranks on each node, for algorithms of several levels; in all as many as --ranks",
                 [&nodes](std::string_view given) {
                   nodes.clear();
                   for (int node = 0; const std::string& item : apps::split_list(given))
                     nodes.insert(nodes.end(), static_cast<std::size_t>(apps::parse_integer(item, 1, most)), node++);
                 });
}

void require_nodes_of(int ranks, const std::vector<int>& nodes) {
  if (!nodes.empty() && nodes.size() != static_cast<std::size_t>(ranks))
    throw InputError(fmt::format("--nodes has {} ranks in all, --ranks {}", nodes.size(), ranks));
}

std::vector<const Algorithm*> algorithms_of(Collective collective) {
  std::vector<const Algorithm*> found;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective) found.push_back(algorithm);
  return found;
}

}  // namespace tutti::tool
