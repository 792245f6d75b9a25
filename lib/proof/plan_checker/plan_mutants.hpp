#pragma once
// Compiled plans with one fault each in the additions of shared memory: a proof that lets one pass does not cover it.

#include <string>
#include <string_view>
#include <vector>

#include "lib/proof/plan_checker/plans.hpp"

namespace tutti::checker {

enum class PlanMutation : std::uint8_t {
  result_skipped,   ///< A reduction that others read, or whose result is part of the output, is joined with the next.
  message_skipped,  ///< So is a received message that others read, or that is part of the output.
  operand_moved,    ///< A joint reduction reads an operand an element further on.
  operands_swapped,
  operand_dropped,
  sum_moved,      ///< A joint reduction writes an element further on.
  forward_moved,  ///< Another send gets the result.
  group_joined,   ///< A send of other data shares the copy.
  place_moved,    ///< An answer is written an element further on.
  place_taken,    ///< A place is offered that other steps read or write until later.
  order_claimed,  ///< Steps are started strictly in order, though some are delayed by that.
};
inline constexpr int plan_mutation_count = 11;
[[nodiscard]] std::string_view to_string(PlanMutation mutation);

struct PlanMutant {
  PlanMutation mutation;
  shm::SharedPlan plan;
  std::string text;  ///< "step 7: its operands are swapped"
};

/// Every fault of these kinds that fits the plan of a rank, each certain to be one. `answers`: by step, of a send the
/// number of the message back that carries the result which its receiver makes of it and forwards; -1: there is none.
[[nodiscard]] std::vector<PlanMutant> mutants_of(const shm::SharedPlan& plan, const std::vector<int>& answers);

/// The answers of a rank's sends, as above.
[[nodiscard]] std::vector<int> answers_to(Rank rank, const Plans& plans);

}  // namespace tutti::checker
