#include "lib/shm/exposures.hpp"

#include <algorithm>
#include <bit>

namespace tutti::shm {
namespace {

constexpr int point_to_point = Wishes::calls - 1;
static_assert(collective_count <= point_to_point);

/// The sender of an exposed message waits until it has been read, and hears of it a line's way later; of a staged one
/// it goes on meanwhile. Where both send, they wait for each other's anyway.
constexpr double waiting = 1.2, hearing_ns = 300;

}  // namespace

Exposures::Exposures(Links& links, std::span<const int> locals, const CompiledPlan& plan, SingleCopyUse use)
    : links_(&links),
      locals_(locals),
      may_reduce_(plan.takes_turns && reduces(plan.problem.collective)),
      is_always_(use == SingleCopyUse::always && !may_reduce_),
      pairs_(static_cast<std::size_t>(std::ranges::max(locals)) + 1) {
  struct Traffic {
    int sends = 0, recvs = 0, reductions = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Traffic> traffic(pairs_.size());
  for (const CompiledStep& step : plan.steps) {
    if (!step.is_message() || !is_long(step)) continue;
    Traffic& at = traffic[local_of(step)];
    ++(step.verb == Verb::send ? at.sends : at.recvs);
    at.reductions += step.verb == Verb::send || may_be_read(step) ? 0 : 1;
    at.bytes += step.bytes;
  }
  const int me = locals[static_cast<std::size_t>(plan.problem.rank.value())];
  for (std::size_t peer = 0; peer < pairs_.size(); ++peer) {
    const auto& [sends, recvs, reductions, bytes] = traffic[peer];
    Pair& pair = pairs_[peer];
    pair.kind = {.call = plan.takes_turns ? static_cast<int>(plan.problem.collective) : point_to_point,
                 .size = std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1, 0)};
    pair.is_both_ways = sends > 0 && recvs > 0;
    // Whether the peer's receives may be read is not known here; only in collectives that reduce they might not.
    pair.is_measured = pair.is_both_ways ? me < static_cast<int>(peer) && !may_reduce_ : recvs > 0 && reductions == 0;
    pair.bytes = bytes;
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
  if (pair.is_both_ways && may_reduce_) return false;
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
  if (pair.began == Clock::time_point{} || !wishes.can_read()) return;
  if (pair.is_both_ways && !wishes.other_can_read()) return;
  if (pair.staged && pair.exposed) {
    // A wish was too late. If that goes on, the peer sends in another way than this rank thinks: by several plans, say.
    constexpr int most = 4;
    if (++pair.mixed < most) return;
    pair.is_measured = false;
    return wishes.wish(pair.kind, false);
  }
  pair.mixed = 0;
  const std::chrono::duration<double, std::nano> took = Clock::now() - pair.began;
  const double of_exposed = (pair.is_both_ways ? 1 : waiting) * took.count() + hearing_ns;
  const auto bytes = static_cast<double>(pair.bytes);
  if (pair.exposed)
    wishes.add(pair.kind, TwoWays::Way::other, of_exposed / bytes);
  else
    wishes.add(pair.kind, TwoWays::Way::usual, took.count() / bytes);
}

void Exposures::refuses(const CompiledStep& recv) {
  if (may_be_read(recv))
    wishes_of(recv).can_read(false);
  else
    wishes_of(recv).wish(pair_of(recv).kind, false);
}

}  // namespace tutti::shm
