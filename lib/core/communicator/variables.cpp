#include "lib/core/communicator/variables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "lib/core/communicator/setting_values.hpp"
#include "lib/core/schedule/near_names.hpp"

namespace tutti {
namespace {

constexpr std::string_view prefix = "TUTTI_";

bool is_known(std::string_view name) {
  return name.starts_with(prefix_of_test_variables) ||
         std::ranges::find(variables, name, &Variable::name) != variables.end() ||
         std::ranges::find(variables_of_others, name) != variables_of_others.end();
}

/// Compares the parts behind the prefix: all names have it, and would look alike.
std::string with_suggestion(std::string_view name) {
  std::vector<std::string> known;
  known.reserve(variables.size());
  for (const Variable& variable : variables)
    known.emplace_back(variable.name.substr(prefix.size()));
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

const Variable& variable_of(std::string_view name) {
  const auto* const found = std::ranges::find(variables, name, &Variable::name);
  if (found == variables.end()) throw std::logic_error(fmt::format("{} is not in the table of variables", name));
  return *found;
}

const char* value_of(std::string_view name) { return std::getenv(std::string{name}.c_str()); }

/// "auto, never, always" as a list.
std::vector<std::string> allowed_names(const Variable& variable) {
  std::vector<std::string> names;
  for (std::string_view rest = variable.allowed; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    names.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 2, rest.size()));
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

std::vector<std::string> unknown_variables() { return unknown_variables(names_in_environment()); }

void warn_of_unknown_variables() {
  const std::vector<std::string> unknown = unknown_variables();
  if (unknown.empty()) return;
  const std::string text = fmt::format("tutti: warning: unknown environment variable{}, without effect: {}\n",
                                       unknown.size() == 1 ? "" : "s", fmt::join(unknown, ", "));
  std::fputs(text.c_str(), stderr);
}

std::string source_of(std::string_view name) { return fmt::format("environment variable {}", name); }

std::optional<std::int64_t> number_in_environment(std::string_view name) {
  const Variable& variable = variable_of(name);
  const char* const text = value_of(name);
  if (text == nullptr) return std::nullopt;
  return read_number(source_of(name), text, variable.least, variable.most);
}

std::int64_t number_setting(std::string_view name) {
  const Variable& variable = variable_of(name);
  if (const auto number = number_in_environment(name)) return *number;
  return read_number(source_of(name), variable.preset, variable.least, variable.most);
}

std::size_t name_setting(std::string_view name) {
  const Variable& variable = variable_of(name);
  const char* const text = value_of(name);
  return read_name(source_of(name), text == nullptr ? variable.preset : text, allowed_names(variable));
}

void read_sent(const Variable& variable, SentSettings& settings) {
  if (variable.set == nullptr) return;
  const bool is_number = variable.form == Variable::Form::number;
  variable.set(settings,
               is_number ? number_setting(variable.name) : static_cast<std::int64_t>(name_setting(variable.name)));
}

std::string text_in_environment(std::string_view name) {
  const char* const text = value_of(variable_of(name).name);
  return text == nullptr ? "" : text;
}

}  // namespace tutti
