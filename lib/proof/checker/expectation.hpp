#pragma once
// The results that a collective has to leave in its outputs. The only part of the checker that knows collectives.

#include <functional>

#include "memory.hpp"
#include "problems.hpp"

namespace tutti::checker {

/// An output element has to combine element `element` of the inputs of `ranks` ranks from `first` on, each exactly
/// once. No ranks: it has to keep the value that it held before.
struct Combination {
  Rank first;
  int ranks = 0;
  Count element;
  auto operator<=>(const Combination&) const = default;
};

/// The values that each rank's output elements have to hold, and whether in the order of ranks. No function: anything.
struct Expectation {
  Order order = Order::of_ranks;
  std::function<Combination(Rank rank, Count element)> of;
  bool synchronizes = false;  ///< No rank may leave before all have entered.
  /// Whether ranks that hold the same combination have to compute the same expression of it, or the fixed one.
  Bits bits = Bits::same;
  bool gathers = false;    ///< No operand of a reduction is the result of another rank.
  bool is_prefix = false;  ///< Scans: the fixed expression combines one rank after the other.
};
[[nodiscard]] Expectation expectation_of(const Algorithm& algorithm, const Problems& problems);

/// Refutes outputs that do not hold the expected values, or hold them as different expressions on different ranks.
void require_results(const RankSchedules& schedules, const Expectation& expectation, Memory& memory, Values& values);

}  // namespace tutti::checker
