#pragma once
// A collective as all ranks together play it: the subject of the checker's proofs.

#include <algorithm>
#include <variant>
#include <vector>

#include "tutti/algorithm.hpp"
#include "tutti/schedule.hpp"

namespace tutti::checker {

/// The schedule of one rank, and the shape of its buffers.
struct RankSchedule {
  Count input, output;
  Aliasing aliasing;
  Schedule schedule;
};

/// The schedules of all ranks, by rank.
using RankSchedules = std::vector<RankSchedule>;

/// The elements of a buffer of this rank.
[[nodiscard]] Count size_of(const RankSchedule& own, Buffer buffer);

/// The region in the memory where it really lies: an aliased input is located in the output.
[[nodiscard]] inline Region located(const RankSchedule& own, const Region& region) {
  return own.aliasing.located(region);
}

[[nodiscard]] Count total(const Regions& regions);

/// Whether two regions have an element in common. An aliased input has to be located first.
[[nodiscard]] bool overlap(const Region& a, const Region& b);

/// Calls `visit` with each region that the action reads.
template <class Action, class Visit>
void for_each_read(Action& action, const Visit& visit) {
  if (auto* send = std::get_if<Send>(&action))
    std::for_each(send->from.begin(), send->from.end(), visit);
  else if (auto* recv = std::get_if<Recv>(&action); recv != nullptr && recv->then)
    visit(recv->then->lhs == recv->into[0] ? recv->then->rhs : recv->then->lhs);
  else if (auto* reduce = std::get_if<Reduce>(&action))
    visit(reduce->lhs), visit(reduce->rhs);
  else if (auto* copy = std::get_if<Copy>(&action))
    visit(copy->from);
}

/// Calls `visit` with each region that the action writes.
template <class Action, class Visit>
void for_each_write(Action& action, const Visit& visit) {
  if (auto* recv = std::get_if<Recv>(&action)) {
    std::for_each(recv->into.begin(), recv->into.end(), visit);
    if (recv->then && recv->then->into != recv->into[0]) visit(recv->then->into);
  } else if (auto* reduce = std::get_if<Reduce>(&action)) {
    visit(reduce->into);
  } else if (auto* copy = std::get_if<Copy>(&action)) {
    visit(copy->into);
  }
}

}  // namespace tutti::checker
