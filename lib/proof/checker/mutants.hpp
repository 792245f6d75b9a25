#pragma once
// Schedules with one small fault each: a checker that lets one pass does not check for it.

#include <optional>
#include <string>
#include <vector>

#include "prove.hpp"

namespace tutti::checker {

enum class Mutation : std::uint8_t { edge_deleted, region_shifted, operands_swapped };
[[nodiscard]] std::string_view to_string(Mutation mutation);

/// One changed step.
struct Mutant {
  Mutation mutation;
  Rank rank;
  int step;
  Step mutated;
  std::string text;  ///< "rank 3, step 7 (recv scratch[0..4) from 2): no longer waits for step 5"
};

/// Every dependency deleted, every region shifted by one element either way within its buffer, the operands of every
/// reduction swapped.
[[nodiscard]] std::vector<Mutant> mutants_of(const RankSchedules& schedules);

/// Why a mutant that was proved is no fault, found without the code of the proof; nothing if that is not known.
/// - A deleted edge: the rank's other edges imply it.
/// - A deleted edge that only paces: of any two steps of the rank that touch the same element, not both reading it, the
///   other edges still let the second follow the first. So each reads the same values as before; and where less is
///   waited for, no deadlock can come about.
/// - A deleted edge of a barrier: a search back from all that a rank completes still meets every rank.
/// - Swapped operands: the algorithm asks for a commutative operation, and apart from the order of operands every
///   output is the same expression as before, and so are those of different ranks that were the same.
[[nodiscard]] std::optional<std::string> equivalence(const Mutant& mutant, const RankSchedules& original,
                                                     const RankSchedules& mutated, const Expectation& expectation);

}  // namespace tutti::checker
