#include "near_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tutti {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // distances[i][j]: between the first i letters of a and the first j of b.
  std::vector distances(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& least = distances[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      least = std::min({distances[i - 1][j] + 1, distances[i][j - 1] + 1,
                        distances[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, distances[i - 2][j - 2] + 1);
    }
  }
  return distances[a.size()][b.size()];
}

std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& all) {
  constexpr std::size_t longest = 100;  // no name has as many letters, and comparing takes their square
  if (name.size() > longest) return {};
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& other : all) {
    const bool part = name.size() > 2 && (other.find(name) != std::string::npos);
    const std::size_t far = part ? 1 : edit_distance(name, other);
    if (far <= std::max<std::size_t>(1, std::min(name.size(), other.size()) / 3)) near.emplace_back(far, other);
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
