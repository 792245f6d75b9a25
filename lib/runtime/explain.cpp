#include "lib/runtime/explain.hpp"

#include <fmt/format.h>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/operation.hpp"

namespace tutti::detail {
namespace {

std::string cost_in_words(const Choice& choice, const Problem& problem) {
  const Cost cost = choice.algorithm->cost(problem);
  return fmt::format("{} rounds; the busiest rank sends {} messages, {} elements, and reduces {}", cost.rounds,
                     cost.messages, cost.sent.value(), cost.reduced.value());
}

}  // namespace

std::string explain(const Operation& operation) {
  const CachedPlan& cached = operation.plan();
  const CompiledPlan& plan = cached.compiled;
  if (plan.choice.algorithm == nullptr)
    return fmt::format("point-to-point: {} sends and {} receives, all at once", plan.sends, plan.recvs);
  const PlanKey& key = cached.key();
  const bool uneven = key.problem.uneven();
  const CommunicatorState& communicator = operation.communicator();
  std::string text = fmt::format("{} of {} {}, {}, on {} ranks and {} nodes: {}, {}", to_string(key.problem.collective),
                                 uneven ? "uneven blocks" : fmt::format("{} elements", key.problem.count.value()),
                                 uneven ? "of ranks" : "a rank", to_string(key.type), key.problem.size,
                                 communicator.node_count(), to_text(key.choice), operation.why);
  if (cached.exchanges()) text += "; sizes are exchanged first";
  if (!uneven) text += "; " + cost_in_words(key.choice, key.problem);
  return text;
}

}  // namespace tutti::detail
