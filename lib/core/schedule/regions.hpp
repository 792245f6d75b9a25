#pragma once
// Functions on regions for the builder and the passes. The checker has its own of the first two: a proof must not rest
// on the code that it checks.

#include "tutti/schedule.hpp"

namespace tutti {

[[nodiscard]] inline Count total(const Regions& regions) {
  Count sum;
  for (const Region& region : regions)
    sum += region.count;
  return sum;
}

/// Whether two regions have an element in common. An aliased input has to be located first.
[[nodiscard]] inline bool overlap(const Region& a, const Region& b) {
  return a.buffer == b.buffer && a.offset < b.offset + b.count && b.offset < a.offset + a.count;
}

/// How a rank's input lies if the call is in place, as the MPI calls have it.
[[nodiscard]] Aliasing called_in_place(const Problem& problem);

}  // namespace tutti
