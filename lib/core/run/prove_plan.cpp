#include "lib/core/run/prove_plan.hpp"

#include <fmt/format.h>

#include "lib/core/communicator/introduction.hpp"
#include "lib/core/files/prover.hpp"
#include "lib/core/plan/compile.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/plugins.hpp"
#include "lib/core/schedule/regions.hpp"
#include "lib/watch/log.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Whether the buffers lie as the proof knows it.
bool is_placed_as_proved(const Problem& problem) {
  return !problem.aliasing.offset() || problem.aliasing == called_in_place(problem);
}

/// Ranks may place their buffers as each likes, and do not know of each other's: all placements are proved.
Proof proof_of(const PlanKey& key) {
  Proof proof;
  for (const InPlace in_place : {InPlace::nobodys, InPlace::everybodys, InPlace::that_of_even_ranks}) {
    proof = prover().prove(*key.choice.algorithm, key.problem, in_place, {segment_of(key.choice, key.type), true});
    if (!proof.fault.empty() || proof.is_too_large) break;
  }
  return proof;
}

}  // namespace

bool has_to_be_proved(const PlanKey& key, const Workspace& communicator) {
  const ProveUse use = communicator.settings().proves;
  return use == ProveUse::all || (use == ProveUse::loaded && is_loaded(*key.choice.algorithm));
}

void prove_plan(const PlanKey& key, Workspace& communicator) {
  Proof proof{.is_too_large = true};
  if (!is_known_in_part(key.problem)) proof = proof_of(key);
  if (!proof.fault.empty())
    throw Error(fmt::format("tutti: rank {}: {} {}, {}: not proved: {}", communicator.rank().value(),
                            to_string(key.problem.collective), to_text(key.choice), proof.problem, proof.fault));
  proof.is_too_large = proof.is_too_large || !is_placed_as_proved(key.problem);
  CommunicatorCounters& counters = communicator.counters();
  ++(proof.is_too_large ? counters.unproved_plans : counters.proved_plans);
  if (proof.is_too_large && is_loaded(*key.choice.algorithm) && communicator.rank() == Rank{0})
    log::write(log::Level::info, name_in_log(communicator),
               fmt::format("{} {} runs unproved in this call (calls.unproved)", to_string(key.problem.collective),
                           to_text(key.choice)));
}

}  // namespace tutti::detail
