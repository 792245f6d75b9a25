#include "suite.hpp"

namespace tutti::checker {

std::vector<Case> cases_of(const Algorithm& algorithm, Extent extent) {
  std::vector<Case> cases;
  const int most = extent == Extent::all ? 64 : 17;
  for (int size = 1; size <= most; ++size)
    for (const int count : {0, 1, size})
      cases.push_back({.size = size, .count = Count{count}});
  if (algorithm.collective == Collective::barrier) return cases;
  return cases;
}

}  // namespace tutti::checker
