#include "lib/core/run/prove_plan.hpp"

#include <fmt/format.h>

#include <optional>

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

/// How the buffers lie; nothing: in a way that the proof does not know.
std::optional<InPlace> placement_of(const Problem& problem) {
  if (!problem.aliasing.offset()) return InPlace::nobodys;
  if (problem.aliasing == called_in_place(problem)) return InPlace::everybodys;
  return std::nullopt;
}

}  // namespace

bool has_to_be_proved(const PlanKey& key, const Workspace& communicator) {
  const ProveUse use = communicator.settings().proves;
  return use == ProveUse::all || (use == ProveUse::loaded && is_loaded(*key.choice.algorithm));
}

void prove_plan(const PlanKey& key, Workspace& communicator) {
  const Prover& its = prover();
  const std::optional<InPlace> in_place = placement_of(key.problem);
  Proof proof{.is_too_large = true};
  if (in_place && !is_known_in_part(key.problem))
    proof = its.prove(*key.choice.algorithm, key.problem, *in_place, {segment_of(key.choice, key.type), true});
  if (!proof.fault.empty())
    throw Error(fmt::format("tutti: rank {}: {} {}, not proved: {}", communicator.rank().value(),
                            to_string(key.problem.collective), to_text(key.choice), proof.fault));
  CommunicatorCounters& counters = communicator.counters();
  ++(proof.is_too_large ? counters.unproved_plans : counters.proved_plans);
  if (proof.is_too_large && is_loaded(*key.choice.algorithm) && communicator.rank() == Rank{0})
    log::write(log::Level::info, name_in_log(communicator),
               fmt::format("{} {} runs unproved in this call (calls.unproved)", to_string(key.problem.collective),
                           to_text(key.choice)));
}

}  // namespace tutti::detail
