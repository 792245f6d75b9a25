#pragma once
// Functions on regions for the builder and the passes. The checker has its own of the first two: a proof must not rest
// on the code that it checks.

#include <algorithm>
#include <variant>

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

/// Calls `visit` with each region of the action, one that occurs twice twice.
template <class Action, class Visit>
void for_each_region(Action& action, const Visit& visit) {
  if (auto* send = std::get_if<Send>(&action)) std::for_each(send->from.begin(), send->from.end(), visit);
  if (auto* recv = std::get_if<Recv>(&action)) {
    std::for_each(recv->into.begin(), recv->into.end(), visit);
    if (recv->then) visit(recv->then->lhs), visit(recv->then->rhs), visit(recv->then->into);
  }
  if (auto* reduce = std::get_if<Reduce>(&action)) visit(reduce->lhs), visit(reduce->rhs), visit(reduce->into);
  if (auto* copy = std::get_if<Copy>(&action)) visit(copy->from), visit(copy->into);
}

/// How a rank's input lies if the call is in place, as the MPI calls have it.
[[nodiscard]] Aliasing called_in_place(const Problem& problem);

}  // namespace tutti
