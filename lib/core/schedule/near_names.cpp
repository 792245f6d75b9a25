#include "near_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tutti {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> distances((a.size() + 1) * (b.size() + 1));
  // Between the first i letters of a and the first j of b.
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return distances[i * (b.size() + 1) + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& least = at(i, j);
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      least = std::min({at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) least = std::min(least, at(i - 2, j - 2) + 1);
    }
  }
  return distances.back();
}

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& all) {
  constexpr std::size_t longest = 100;  // no name has as many letters, and comparing takes their square
  if (name.size() > longest) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& other : all) {
    const auto [shorter, longer] = std::minmax({name.size(), other.size()});
    const std::size_t most = std::max<std::size_t>(1, shorter / 3);
    const bool part = name.size() > 2 && (other.find(name) != std::string::npos);
    if (!part && longer - shorter > most) continue;  // so many letters are missing at least
    const std::size_t far = part ? 1 : edit_distance(name, other);
    if (far <= most && far < longer) near.emplace_back(far, other);  // at least one letter is the same
  }
  std::ranges::sort(near);
  std::vector<std::string> names;
  names.reserve(near.size());
  for (auto& [far, other] : near)
    names.push_back(std::move(other));
  return names;
}

std::string suggestion(std::string_view name, const std::vector<std::string>& all) {
  const std::vector<std::string> near = near_names(name, all);
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", fmt::join(near, ", "));
}

}  // namespace tutti
