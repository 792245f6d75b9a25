#pragma once
// How nodes and sockets are numbered.

#include <algorithm>
#include <vector>

namespace tutti {

/// Gives groups, of which `groups` has that of each rank, the numbers that Problem wants: those of the lowest ranks
/// first. Says how many there are.
inline int number_in_order(std::vector<int>& groups) {
  std::vector<int> seen;
  for (int& group : groups) {
    const auto known = std::ranges::find(seen, group);
    const auto number = static_cast<int>(known - seen.begin());
    if (known == seen.end()) seen.push_back(group);
    group = number;
  }
  return static_cast<int>(seen.size());
}

}  // namespace tutti
