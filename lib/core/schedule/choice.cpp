#include "lib/core/schedule/choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "near_names.hpp"

namespace tutti {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument(fmt::format("algorithm '{}': {}", text, why));
}

/// A number, with K, M or G for times 1024, its square, its cube; -1 if it is none.
std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest{end, text.data() + text.size()};
  const int shift = rest.empty() ? 0 : rest == "K" ? 10 : rest == "M" ? 20 : rest == "G" ? 30 : -1;
  if (error != std::errc{} || shift < 0 || value < 0 || value > std::numeric_limits<std::int64_t>::max() >> shift)
    return -1;
  return value << shift;
}

std::string allowed(Collective collective, std::string_view name) {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective) names.emplace_back(algorithm->name);
  return fmt::format("{}{}", fmt::join(names, ", "), suggestion(name, names));
}

/// The text before the first `separator`, and the text behind it.
std::pair<std::string_view, std::string_view> split_at(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

const Algorithm* named_file(Collective collective, std::string_view name) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::pair<Collective, std::string>, Algorithm, std::less<>>;  // never destroyed
  const std::lock_guard lock{mutex};
  const auto [entry, is_new] = all.try_emplace({collective, std::string{name}});
  if (is_new) {
    entry->second.collective = collective;
    entry->second.name = entry->first.second;
    entry->second.order = Order::any;  // as nothing is known
    entry->second.summary = "the schedules of a file";
  }
  return &entry->second;
}

bool is_named_file(const Algorithm& algorithm) { return algorithm.build == nullptr && algorithm.data == nullptr; }

Choice read_choice(Collective collective, std::string_view text) {
  if (text.starts_with(file_prefix)) {
    if (text == file_prefix) refuse(text, "no name of a file; allowed: file:PATH");
    return {named_file(collective, text)};
  }
  const auto [rest, segment] = split_at(text, '/');
  const auto [name, parameter] = split_at(rest, ':');
  Choice choice{find_algorithm(collective, name)};
  if (choice.algorithm == nullptr)
    refuse(text,
           fmt::format("'{}' does not serve {}; allowed: {}", name, to_string(collective), allowed(collective, name)));
  const Parameter& has = choice.algorithm->parameter;
  choice.parameter = has.fallback;
  if (name.size() < rest.size()) {
    const std::int64_t value = number(parameter);
    if (has.name.empty()) refuse(text, fmt::format("{} has no parameter; allowed: {}", name, name));
    if (value < has.least || value > has.most)
      refuse(text, fmt::format("'{}' is no {}; allowed: {} to {}", parameter, has.name, has.least, has.most));
    choice.parameter = static_cast<int>(value);
  }
  if (rest.size() < text.size()) {
    choice.segment = number(segment);
    if (choice.segment < 1)
      refuse(text, fmt::format("'{}' is no segment size; allowed: 1 or more, as in 4096 or 64K", segment));
  }
  return choice;
}

std::string to_text(const Choice& choice) {
  std::string text{choice.algorithm->name};
  if (choice.parameter != choice.algorithm->parameter.fallback) text += fmt::format(":{}", choice.parameter);
  if (choice.segment > 0) text += fmt::format("/{}", choice.segment);
  return text;
}

}  // namespace tutti
