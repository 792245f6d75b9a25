#include "lib/runtime/variables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "lib/runtime/setting_values.hpp"
#include "lib/schedule/near_names.hpp"

namespace tutti {
namespace {

constexpr std::string_view prefix = "TUTTI_";

bool is_known(std::string_view name) {
  return name.starts_with(prefix_of_test_variables) || std::ranges::find(variables, name) != variables.end() ||
         std::ranges::find(variables_of_others, name) != variables_of_others.end();
}

/// Compares the parts behind the prefix: all names have it, and would look alike.
std::string with_suggestion(std::string_view name) {
  std::vector<std::string> known;
  known.reserve(variables.size());
  for (const std::string_view variable : variables)
    known.emplace_back(variable.substr(prefix.size()));
  std::vector<std::string> near = near_names(name.substr(prefix.size()), known);
  for (std::string& each : near)
    each.insert(0, prefix);
  return near.empty() ? std::string{name} : fmt::format("{} (did you mean {}?)", name, fmt::join(near, ", "));
}

std::vector<std::string> names_in_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text{*variable};
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

}  // namespace

std::vector<std::string> unknown_variables(const std::vector<std::string>& names) {
  std::vector<std::string> unknown;
  for (const std::string& name : names)
    if (name.starts_with(prefix) && !is_known(name)) unknown.push_back(with_suggestion(name));
  std::ranges::sort(unknown);
  return unknown;
}

void warn_of_unknown_variables() {
  const std::vector<std::string> unknown = unknown_variables(names_in_environment());
  if (unknown.empty()) return;
  const std::string text = fmt::format("tutti: warning: unknown environment variable{}, without effect: {}\n",
                                       unknown.size() == 1 ? "" : "s", fmt::join(unknown, ", "));
  std::fputs(text.c_str(), stderr);
}

std::optional<std::int64_t> number_in_environment(const char* name, std::int64_t least, std::int64_t most) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  return read_number(fmt::format("environment variable {}", name), text, least, most);
}

}  // namespace tutti
