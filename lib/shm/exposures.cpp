#include "lib/shm/exposures.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tutti::shm {
namespace {

constexpr int point_to_point = Wishes::calls - 1;
static_assert(collective_count <= point_to_point);

/// The sender of an exposed message waits until it has been read; of a staged one it goes on meanwhile.
constexpr double waiting = 1.2;

}  // namespace

Exposures::Exposures(Links& links, std::span<const int> locals, const CompiledPlan& plan, SingleCopyUse use)
    : links_(&links), locals_(locals), pairs_(static_cast<std::size_t>(std::ranges::max(locals)) + 1) {
  struct Traffic {
    int sends = 0, recvs = 0, reductions = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Traffic> traffic(pairs_.size());
  for (const CompiledStep& step : plan.steps) {
    if (!step.is_message() || !is_long(step)) continue;
    Traffic& at = traffic[local_of(step)];
    ++(step.verb == Verb::send ? at.sends : at.recvs);
    at.reductions += step.verb == Verb::recv_reduce ? 1 : 0;
    at.bytes += step.bytes;
  }
  // Reductions gain nothing: they take areas as they are. Whether the peer's receives are such is not known here.
  const bool may_reduce = plan.takes_turns && reduces(plan.problem.collective);
  is_always_ = use == SingleCopyUse::always && !may_reduce;
  const int me = locals[static_cast<std::size_t>(plan.problem.rank.value())];
  for (std::size_t peer = 0; peer < pairs_.size(); ++peer) {
    const auto& [sends, recvs, reductions, bytes] = traffic[peer];
    Pair& pair = pairs_[peer];
    pair.kind = {.call = plan.takes_turns ? static_cast<int>(plan.problem.collective) : point_to_point,
                 .size = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1, 0)};
    pair.is_both_ways = sends > 0 && recvs > 0;
    pair.is_measured = pair.is_both_ways ? me < static_cast<int>(peer) && !may_reduce : recvs > 0 && reductions == 0;
    pair.messages = sends + recvs;
  }
}

void Exposures::begin() {
  for (Pair& pair : pairs_) {
    pair.left = pair.messages;
    pair.staged = pair.exposed = false;
    pair.began = {};
  }
}

bool Exposures::is_wished(const CompiledStep& send) const {
  const Pair& pair = pair_of(send);
  const Wishes& wishes = wishes_of(send);
  if (is_always_) return wishes.other_can_read();
  return pair.is_measured ? wishes.wishes(pair.kind) && wishes.other_can_read() : wishes.other_wishes(pair.kind);
}

void Exposures::sends(const CompiledStep& send, Way way) {
  (way == Way::exposed ? pair_of(send).exposed : pair_of(send).staged) = true;
}

void Exposures::arrives(const CompiledStep& recv, Way way, std::chrono::nanoseconds ago) {
  Pair& pair = pair_of(recv);
  (way == Way::exposed ? pair.exposed : pair.staged) = true;
  if (pair.is_measured && pair.began == Clock::time_point{}) pair.began = Clock::now() - ago;
}

void Exposures::is_over(const CompiledStep& step) {
  if (!is_long(step)) return;
  Pair& pair = pair_of(step);
  if (--pair.left == 0 && pair.is_measured) conclude(pair, wishes_of(step));
}

/// All messages of an operation are over.
void Exposures::conclude(Pair& pair, Wishes& wishes) {
  if (pair.began == Clock::time_point{} || pair.staged == pair.exposed || !wishes.can_read()) return;
  if (pair.is_both_ways && !wishes.other_can_read()) return;
  const std::chrono::nanoseconds took = Clock::now() - pair.began;
  const auto cost = static_cast<double>(took.count());
  if (pair.exposed)
    pair.ways.add(TwoWays::Way::other, pair.is_both_ways ? cost : waiting * cost);
  else
    pair.ways.add(TwoWays::Way::usual, cost);
  wishes.wish(pair.kind, pair.ways.choose() == TwoWays::Way::other);
}

void Exposures::refuses(const CompiledStep& recv) {
  if (recv.verb == Verb::recv)
    wishes_of(recv).can_read(false);
  else
    wishes_of(recv).wish(pair_of(recv).kind, false);
}

}  // namespace tutti::shm
