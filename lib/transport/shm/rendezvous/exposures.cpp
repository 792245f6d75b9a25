#include "lib/transport/shm/rendezvous/exposures.hpp"

#include <algorithm>
#include <bit>

namespace tutti::shm {
namespace {

constexpr int point_to_point = Wishes::calls - 1;
static_assert(collective_count <= point_to_point);

/// The sender of an exposed message waits until it has been read, and hears of it a line's way later; of a staged one
/// it goes on meanwhile. Where both send, they wait for each other's anyway.
constexpr double waiting = 1.1, hearing_ns = 150;

/// Messages that are pushed between two ranks have so many bytes each, at least, and less than so many all together:
/// others are as fast, or faster, if they are read, or staged (measured, docs/performance.md).
constexpr std::int64_t least_pushed = 128 * 1024L, most_pushed = std::int64_t{16} << 20;

/// MessageKind::size of so many bytes.
int size_of(std::int64_t bytes) {
  return std::max(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes))) - 1, 0);
}

}  // namespace

Exposures::Exposures(Links& links, std::span<const int> locals, const CompiledPlan& plan, SingleCopyUse use)
    : links_(&links),
      locals_(locals),
      me_(static_cast<std::size_t>(locals[static_cast<std::size_t>(plan.problem.rank.value())])),
      has_two_ranks_(plan.ranks == 2),
      may_reduce_(plan.takes_turns && reduces(plan.problem.collective)),
      is_always_(use == SingleCopyUse::always && (has_two_ranks_ || !may_reduce_)),
      waits_for_peers_(plan.problem.collective == Collective::allreduce),
      pairs_(static_cast<std::size_t>(std::ranges::max(locals)) + 1) {
  struct Traffic {
    int sends = 0, recvs = 0, unread = 0, shorter = 0;
    std::int64_t bytes = 0;
  };
  std::vector<Traffic> traffic(pairs_.size());
  for (const CompiledStep& step : plan.steps) {
    if (!step.is_message() || !is_long(step)) continue;
    Traffic& at = traffic[local_of(step)];
    ++(step.verb == Verb::send ? at.sends : at.recvs);
    at.unread += step.verb == Verb::send || may_be_read(step) ? 0 : 1;
    at.shorter += step.bytes < least_pushed ? 1 : 0;
    at.bytes += step.bytes;
  }
  for (std::size_t peer = 0; peer < pairs_.size(); ++peer) {
    const auto& [sends, recvs, unread, shorter, bytes] = traffic[peer];
    Pair& pair = pairs_[peer];
    pair.kind = {.call = plan.takes_turns ? static_cast<int>(plan.problem.collective) : point_to_point,
                 .size = size_of(bytes)};
    pair.is_both_ways = sends > 0 && recvs > 0;
    // Whether the peer's receives may be read is not known here; only in collectives that reduce they might not.
    pair.may_be_pushed =
        plan.takes_turns && has_two_ranks_ && pair.is_both_ways && unread == 0 && shorter == 0 && bytes < most_pushed;
    pair.is_measured = pair.is_both_ways ? me_ < peer : recvs > 0 && unread == 0;
    pair.bytes = bytes;
    pair.messages = sends + recvs;
  }
  if (plan.takes_turns && !may_reduce_) follow_the_lowest();
}

void Exposures::follow_the_lowest() {
  if (me_ != 0 && !pairs_[0].is_both_ways) return;
  const auto first = std::ranges::find(pairs_, true, &Pair::is_both_ways);
  if (first == pairs_.end()) return;
  lead_ = static_cast<std::size_t>(first - pairs_.begin());
  for (Pair& pair : pairs_) {
    if (!pair.is_both_ways) continue;
    pair.is_led = true;
    if (&pair == &*first) continue;
    pair.is_measured = false;
    first->bytes += pair.bytes;
    first->messages += pair.messages;
  }
}

/// What is pushed is over when both ranks have come for it. Programs may count on what they have started to be over for
/// their peers without that, where there is room; but an allreduce never is.
void Exposures::begin(int lane) {
  pushes_ = lane == Geometry::blocking_lane || waits_for_peers_;
  for (Pair& pair : pairs_) {
    pair.left = pair.messages;
    pair.staged = pair.exposed = false;
    pair.began = {};
    pair.work = {};
  }
  if (me_ != 0 && pairs_[lead_].is_led) wish(lead_, wishes_of(lead_).other_wishes(pairs_[lead_].kind));
}

bool Exposures::is_wished(const CompiledStep& message) const {
  const bool is_sent = message.verb == Verb::send;
  const std::size_t peer = local_of(message);
  const Pair& pair = pairs_[peer];
  const Wishes& wishes = wishes_of(peer);
  if (!(is_sent ? wishes.other_can_read() : wishes.can_read())) return false;
  if (is_staged(pair)) return false;
  if (is_always_) return true;
  const bool is_mine = pair.is_both_ways ? me_ < peer : !is_sent;
  return is_mine ? wishes.wishes(pair.kind) : wishes.other_wishes(pair.kind);
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
  if (--pair.left == 0 && pair.is_measured && !is_staged(pair)) conclude(decided_with(step));
}

/// All messages of an operation are over.
void Exposures::conclude(std::size_t peer) {
  Pair& pair = pairs_[peer];
  Wishes& wishes = wishes_of(peer);
  if (pair.began == Clock::time_point{}) return;
  if (!wishes.can_read() || (pair.is_both_ways && !wishes.other_can_read())) return wish(peer, false);
  if (pair.staged && pair.exposed) {
    // A wish was too late, or is another operation's of messages as long. If that goes on, the peer sends in another
    // way than this rank thinks: by several plans, say.
    constexpr int most = 4;
    pair.is_measured = ++pair.mixed < most;
    return wish(peer, pair.is_measured && wishes.wishes(pair.kind));
  }
  pair.mixed = 0;
  const std::chrono::duration<double, std::nano> took =
      pair.is_led || is_pushed(pair) ? pair.work : Clock::now() - pair.began;
  const double cost = pair.exposed ? (pair.is_both_ways ? 1 : waiting) * took.count() + hearing_ns : took.count();
  const auto way = pair.exposed ? TwoWays::Way::other : TwoWays::Way::usual;
  // Operations that look the same from this pair may be others, of which more or less goes between other ranks.
  const MessageKind learnt{.call = pair.kind.call, .size = size_of(pair.bytes)};
  wish(peer, wishes.learns(learnt, way, cost / static_cast<double>(pair.bytes)));
}

void Exposures::wish(std::size_t peer, bool exposed) {
  if (!pairs_[peer].is_led) return wishes_of(peer).wish(pairs_[peer].kind, exposed);
  for (std::size_t led = me_ + 1; led < pairs_.size(); ++led)
    if (pairs_[led].is_led) wishes_of(led).wish(pairs_[led].kind, exposed);
}

void Exposures::refuses(const CompiledStep& recv) {
  if (may_be_read(recv))
    wishes_of(local_of(recv)).can_read(false);
  else
    wishes_of(local_of(recv)).wish(pairs_[local_of(recv)].kind, false);
}

}  // namespace tutti::shm
