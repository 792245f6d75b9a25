#pragma once
// What a collective has to leave in its outputs. The only part of the checker that knows collectives.

#include <functional>

#include "memory.hpp"

namespace tutti::checker {

/// An output element has to combine element `element` of the inputs of `ranks` ranks from `first` on, each exactly
/// once. No ranks: it may hold anything.
struct Combination {
  Rank first;
  int ranks = 0;
  Count element;
  auto operator<=>(const Combination&) const = default;
};

/// What each rank's output elements have to hold, and whether in the order of ranks.
struct Expectation {
  Order order = Order::of_ranks;
  std::function<Combination(Rank rank, Count element)> of;
};
[[nodiscard]] Expectation expectation_of(const Algorithm& algorithm, int size);

/// Refutes outputs that do not hold what is expected, or hold it as different expressions on different ranks.
void require_results(const Parts& parts, const Expectation& expectation, Memory& memory, const Values& values);

}  // namespace tutti::checker
