#include "lib/core/selection/choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

std::vector<std::string> collective_names() {
  std::vector<std::string> names;
  names.reserve(collective_count);
  for (int i = 0; i < collective_count; ++i)
    names.emplace_back(to_string(static_cast<Collective>(i)));
  return names;
}

/// Each once, though it may serve several collectives.
std::vector<std::string> all_algorithm_names() {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms())
    if (std::ranges::find(names, algorithm->name) == names.end()) names.emplace_back(algorithm->name);
  return names;
}

/// "a, b, c (did you mean b?)"
std::string allowed(std::string_view given, const std::vector<std::string>& names) {
  return fmt::format("{}{}", fmt::join(names, ", "), suggestion(given, names));
}

/// "allreduce=ring" or "ring".
void read_entry(std::string_view entry, std::string_view source, Choices& choices) {
  const auto refuse = [&](const std::string& why) {
    throw ArgumentError(fmt::format("{}: '{}': {}", source, entry, why));
  };
  const std::size_t equals = entry.find('=');
  const std::string_view text = entry.substr(equals == std::string_view::npos ? 0 : equals + 1);
  try {
    if (equals != std::string_view::npos) {
      const std::string_view given = entry.substr(0, equals);
      const auto collective = find_collective(given);
      if (!collective) refuse(fmt::format("no collective; allowed: {}", allowed(given, collective_names())));
      choices[static_cast<std::size_t>(*collective)] = read_choice(*collective, text);
      return;
    }
    if (text.starts_with(file_prefix)) refuse("a file serves one collective; allowed: COLLECTIVE=file:PATH");
    const std::string_view name = text.substr(0, text.find_first_of(":/"));
    bool serves = false;
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->name != name) continue;
      choices[static_cast<std::size_t>(algorithm->collective)] = read_choice(algorithm->collective, text);
      serves = true;
    }
    if (!serves)
      refuse(fmt::format("no algorithm; allowed: COLLECTIVE=ALGORITHM, or one of {}",
                         allowed(name, all_algorithm_names())));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

}  // namespace

Choices read_choices(std::string_view text, std::string_view source) {
  Choices choices{};
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) read_entry(text.substr(0, comma), source, choices);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return choices;
}

}  // namespace tutti
