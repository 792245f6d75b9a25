#include "lib/plan/message_paths.hpp"

#include <algorithm>

namespace tutti {
namespace {

std::int64_t pieces_of(const CompiledPlan& plan, const CompiledStep& step, std::int64_t most) {
  const std::int64_t piece = plan.piece_of(most);
  return std::max<std::int64_t>(1, (step.bytes + piece - 1) / piece);
}

/// Pieces that the messages of one pair and direction leave in.
std::int64_t pieces_of(const CompiledPlan& plan, const std::vector<int>& messages, std::int64_t most) {
  std::int64_t pieces = 0;
  for (const int step : messages)
    pieces += pieces_of(plan, plan.steps[static_cast<std::size_t>(step)], most);
  return pieces;
}

/// Whether the messages of a pair, one way and back, go through swapped slots. Both ends know all that counts.
bool is_swapped(const CompiledPlan& plan, const std::vector<int>& messages, const std::vector<int>& back,
                const SharedMemory& memory) {
  const auto may_be_read = [&](int message) {
    return plan.steps[static_cast<std::size_t>(message)].bytes >= memory.exposed_bytes;
  };
  if (memory.exposed_bytes > 0 &&
      (std::ranges::any_of(messages, may_be_read) || std::ranges::any_of(back, may_be_read)))
    return false;
  const std::int64_t pieces = pieces_of(plan, messages, memory.piece_bytes);
  return plan.takes_turns && pieces <= memory.swap_slots && pieces == pieces_of(plan, back, memory.piece_bytes);
}

}  // namespace

Dependencies dependents_of(const Dependencies& after) {
  Dependencies dependents(after.size());
  for (std::size_t i = 0; i < after.size(); ++i)
    for (const int before : after[i])
      dependents[static_cast<std::size_t>(before)].push_back(static_cast<int>(i));
  return dependents;
}

Messages by_pair(const std::vector<CompiledStep>& steps) {
  Messages pairs;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const CompiledStep& step = steps[i];
    if (!step.is_message()) continue;
    pairs[{step.peer, step.verb != Verb::send}].push_back(static_cast<int>(i));  // numbers ascend with steps
  }
  return pairs;
}

void choose_paths(CompiledPlan& plan, const Messages& pairs, Path far, const SharedMemory& memory) {
  for (const auto& [pair, numbered] : pairs) {
    const auto& [peer, receives] = pair;
    for (std::size_t m = 1; m < numbered.size(); ++m) {
      plan.steps[static_cast<std::size_t>(numbered[m])].previous = numbered[m - 1];
      plan.steps[static_cast<std::size_t>(numbered[m - 1])].next = numbered[m];
    }
    if (!memory.reaches_rank(Rank{peer})) {
      for (const int message : numbered)
        plan.steps[static_cast<std::size_t>(message)].path = far;
      (far == Path::mpi ? plan.uses_mpi : plan.uses_network) = true;
      continue;
    }
    const auto back = pairs.find({peer, !receives});
    const bool swaps = back != pairs.end() && is_swapped(plan, numbered, back->second, memory);
    const Path path = swaps ? Path::swap : Path::ring;
    std::int64_t slot = 0;
    for (const int message : numbered) {
      CompiledStep& step = plan.steps[static_cast<std::size_t>(message)];
      step.path = path;
      step.slot = path == Path::swap ? static_cast<int>(slot) : 0;
      slot += pieces_of(plan, step, memory.piece_bytes);
    }
  }
}

}  // namespace tutti
