#pragma once
// Questions about the steps of a compiled plan, answered from the plan alone.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/plan/shared_plan.hpp"
#include "lib/proof/plan_checker/shared_accesses.hpp"

namespace tutti::checker {

class PlanView {
 public:
  explicit PlanView(const shm::SharedPlan& plan) : plan_(plan), before_(plan.steps.size()) {
    for (int i = 0; i < steps(); ++i)
      for (const int d : dependents(i))
        before_[static_cast<std::size_t>(d)].push_back(i);
  }

  [[nodiscard]] int steps() const { return static_cast<int>(plan_.steps.size()); }
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const shm::SideStep& side(int i) const { return plan_.side(i); }
  [[nodiscard]] std::span<const int> dependents(int i) const {
    return std::span{plan_.dependents}.subspan(
        static_cast<std::size_t>(step(i).first_dependent),
        static_cast<std::size_t>(step(i).last_dependent - step(i).first_dependent));
  }
  /// The steps that a step waits for.
  [[nodiscard]] std::span<const int> before(int i) const { return before_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Place written(int i) const { return place_of(plan_, step(i).into, step(i).into_at); }
  [[nodiscard]] bool touches(const Place& place, std::int64_t bytes, Buffer buffer, std::int64_t at,
                             std::int64_t its_bytes) const {
    const Place its = place_of(plan_, buffer, at);
    return its.first == place.first && its.second < place.second + bytes && place.second < its.second + its_bytes;
  }
  [[nodiscard]] bool reads(int i, const Place& place, std::int64_t bytes) const {
    const CompiledStep& at = step(i);
    const bool lands = at.verb == Verb::recv_reduce ||
                       at.verb == Verb::recv_then_reduce;  // in one of the operands, which is not read then
    const bool has_left = at.verb != Verb::recv && !(lands && at.lands_left);
    const bool has_right = at.verb == Verb::reduce || (lands && !at.lands_left);
    return (has_left && touches(place, bytes, at.lhs, at.lhs_at, at.bytes)) ||
           (has_right && touches(place, bytes, at.rhs, at.rhs_at, at.bytes));
  }
  [[nodiscard]] bool writes(int i, const Place& place, std::int64_t bytes) const {
    const CompiledStep& at = step(i);
    return at.verb != Verb::send && touches(place, bytes, at.into, at.into_at, at.bytes);
  }

  /// Whether others than `reader` need the result of step i before it is written again: another step, or the caller.
  [[nodiscard]] bool is_needed(int i, int reader) const {
    const Place place = written(i);
    const std::int64_t bytes = step(i).bytes;
    for (int later = i + 1; later < steps(); ++later) {
      if (later != reader && reads(later, place, bytes)) return true;
      if (writes(later, place, bytes)) return false;
    }
    return place.first == Buffer::output;
  }

  [[nodiscard]] bool sends_the_same(int a, int b) const {
    return place_of(plan_, step(a).lhs, step(a).lhs_at) == place_of(plan_, step(b).lhs, step(b).lhs_at);
  }

  /// Whether the data sent were copied, or are a copy: the same data may then be in another place.
  [[nodiscard]] bool has_copies(int send) const {
    const CompiledStep& at = step(send);
    const Place place = place_of(plan_, at.lhs, at.lhs_at);
    return std::ranges::any_of(plan_.steps, [&](const CompiledStep& copy) {
      return copy.verb == Verb::copy && (touches(place, at.bytes, copy.lhs, copy.lhs_at, copy.bytes) ||
                                         touches(place, at.bytes, copy.into, copy.into_at, copy.bytes));
    });
  }

  /// Whether `later` waits for `earlier`, if only by way of other steps.
  [[nodiscard]] bool waits_for(int later, int earlier) const {
    return std::ranges::any_of(before(later),
                               [&](int i) { return i == earlier || (i > earlier && waits_for(i, earlier)); });
  }

 private:
  const shm::SharedPlan& plan_;
  std::vector<std::vector<int>> before_;
};

}  // namespace tutti::checker
