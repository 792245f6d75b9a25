#include <algorithm>

#include "lib/transport/shm/plan/decisions.hpp"

namespace tutti::shm {
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
    return memory.exposed_bytes > 0 && plan.steps[static_cast<std::size_t>(message)].bytes >= memory.exposed_bytes;
  };
  if (std::ranges::any_of(messages, may_be_read) || std::ranges::any_of(back, may_be_read)) return false;
  const std::int64_t pieces = pieces_of(plan, messages, memory.piece_bytes);
  return plan.takes_turns && pieces <= memory.swap_slots && pieces == pieces_of(plan, back, memory.piece_bytes);
}

}  // namespace

void choose_ways(SharedPlan& plan, const Messages& pairs, const SharedMemory& memory) {
  for (const auto& [pair, numbered] : pairs) {
    const auto& [peer, receives] = pair;
    const auto back = pairs.find({peer, !receives});
    if (plan.steps[static_cast<std::size_t>(numbered[0])].transport != Transport::shm || back == pairs.end() ||
        !is_swapped(plan, numbered, back->second, memory))
      continue;
    std::int64_t slot = 0;
    for (const int message : numbered) {
      plan.side(message).way = Way::swap;
      plan.side(message).slot = static_cast<int>(slot);
      slot += pieces_of(plan, plan.steps[static_cast<std::size_t>(message)], memory.piece_bytes);
    }
  }
}

}  // namespace tutti::shm
