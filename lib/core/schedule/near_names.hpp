#pragma once
// Names that are nearly those that users wrote.

#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// How many letters have to be changed, added, dropped, or swapped with their neighbour, to get from `a` to `b`. Takes
/// a.size() * b.size() steps.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The names of `all` that look like `name`, the nearest first: few letters differ, or `name` is a part of it.
[[nodiscard]] std::vector<std::string> near_names(std::string_view name, const std::vector<std::string>& all);

/// " (did you mean ring?)", to be put behind a complaint; empty if no name of `all` is near.
[[nodiscard]] std::string suggestion(std::string_view name, const std::vector<std::string>& all);

}  // namespace tutti
