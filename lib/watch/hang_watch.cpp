#include "lib/watch/hang_watch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lib/core/communicator/runtime.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/records/text.hpp"
#include "lib/watch/watch_tuning.hpp"

namespace tutti::detail {
namespace {

using records::FailureKind;
using records::Situation;

constexpr std::int64_t second = 1'000'000'000;

}  // namespace

void HangWatch::entered(const Entrance& /*run*/) {
  since_ = records::coarse_now();
  next_look_ = since_ + watch_tuning.first_look;
  own_bytes_ = others_bytes_ = Stillness{since_};
  device_work_.reset();
  step_of_another_call_ = missing_step_ = -1;
  has_reported_ = false;
}

unsigned HangWatch::note(const Look& look) {
  next_look_ = look.now + std::clamp(look.now - since_, watch_tuning.first_look, watch_tuning.longest_between_looks);
  if (look.moved) own_bytes_.note(*look.moved, look.now);
  if (!look.device_work) {
    device_work_.reset();
  } else {
    if (!device_work_) device_work_.emplace(look.now);
    device_work_->note(*look.device_work, look.now);
  }
  return own_bytes_.changes() % records::Wait::progress_modulus;
}

void HangWatch::waits(const Look& look) {
  require_right_messages(look);
  PeerWatch& peers = workspace_.peers();
  if (const auto failure = peers.failure_of_peer()) throw PeerError(failure->kind, failure->why);
  const int peer = look.wait.peer;
  const std::int64_t waited = look.now - since_;
  if (peer >= 0 && look.call.action < records::Action::messages) peers.require_match(look.call, peer);
  if (waited >= watch_tuning.before_processes) {
    require_alive(look);
    require_no_cycle(look);
    require_no_loss(look);
  }
  if (workspace_.members().node_count() > 1 && waited >= watch_tuning.before_questions) {
    workspace_.runtime().serve_mailboxes();
    if (peer >= 0 && peers.others().is_far(peer)) peers.others().ask_now_and_then(look.call, peer, look.now);
  }
  require_device_moves(look);
  report_hang(look);
}

/// Two looks have to see the same: the right message may have come just before one.
void HangWatch::require_right_messages(const Look& look) {
  const int step = look.step_of_another_call;
  if (step >= 0 && step == step_of_another_call_)
    throw WrongMessage(look.plan.steps[static_cast<std::size_t>(step)].peer, "a message of another call arrived");
  step_of_another_call_ = step;
}

void HangWatch::require_no_cycle(const Look& look) {
  const auto found = workspace_.peers().cycles().look(look.call, look.wait.peer, look.now);
  if (!found) return;
  // The others wait on another communicator, which cannot be used any more either.
  found->last->fail(FailureKind::mismatch, found->text);
  throw MismatchError(found->text);
}

/// All ranks of this node: one that this rank does not wait for may keep others from going on.
void HangWatch::require_alive(const Look& look) const {
  for (int rank = 0; rank < workspace_.members().size(); ++rank) {
    const records::Journal* const journal = workspace_.peers().others().journal_of(rank);
    if (journal == nullptr || rank == workspace_.rank().value()) continue;
    const records::ProcessWatch& process = workspace_.runtime().process_watch(journal->identity());
    if (!process.has_ended()) continue;
    const Situation its = situation_of(*journal, look.call, look.now);
    // It may well have done its part, and ended the program in an orderly way.
    if (its.place == Situation::Whereabouts::done && look.wait.peer != rank) continue;
    const int signal = process.signal();
    const std::string how = signal == 0 ? "" : ": killed by " + records::signal_in_words(signal);
    const std::string wait = records::in_words(look.wait);
    throw PeerError(FailureKind::death,
                    fmt::format("rank {} (process {} on {}) has ended{}, while rank {} {}", rank, its.pid,
                                journal->identity().host.data(), how, workspace_.rank().value(),
                                wait.empty() ? "was in the call" : wait),
                    PeerError::Told::no);
  }
}

/// A sender in shared memory is done when its message can be seen: one that cannot be seen has been lost.
void HangWatch::require_no_loss(const Look& look) {
  const records::Wait& wait = look.wait;
  if (wait.what != records::Wait::For::message_from) return;
  if (look.plan.steps[static_cast<std::size_t>(wait.step)].transport != Transport::shm) return;
  const records::Journal* const journal = workspace_.peers().others().journal_of(wait.peer);
  const auto its = journal == nullptr ? std::nullopt : entry_of(*journal, look.call.communicator, look.call.sequence);
  if (!its || its->state != records::State::over || !match(its->call, look.call)) return;
  if (missing_step_ != wait.step) {
    missing_step_ = wait.step;
    missing_since_ = look.now;
  }
  if (look.now - missing_since_ < watch_tuning.before_loss) return;
  throw Error(
      fmt::format("a message from rank {} for step {} has been lost: that rank has sent it, and has been done "
                  "with the call for {} or longer",
                  wait.peer, wait.step, records::duration_in_words(look.now - missing_since_)));
}

/// A number that changes whenever a rank of this node has seen bytes of the call move, or is done with it.
std::uint64_t HangWatch::progress_of_others(const records::Signature& mine) const {
  std::uint64_t seen = 0;
  for (int rank = 0; rank < workspace_.members().size(); ++rank) {
    const records::Journal* const journal = workspace_.peers().others().journal_of(rank);
    const auto its = journal == nullptr ? std::nullopt : entry_of(*journal, mine.communicator, mine.sequence);
    if (its) seen = (seen ^ packed(its->wait) ^ static_cast<std::uint64_t>(its->state) << 61U) * 0x9e3779b97f4a7c15U;
  }
  return seen;
}

/// MPI, networks and devices tell of whole messages alone: a long one is given the time that a slow way would take.
std::int64_t HangWatch::still_for(const Look& look) const {
  const std::int64_t since = std::max(own_bytes_.since(), others_bytes_.since());
  const bool is_seen =
      workspace_.members().node_count() == 1 && std::ranges::all_of(look.plan.steps, [](const CompiledStep& step) {
        return !step.is_message() || step.transport == Transport::shm;
      });
  if (is_seen) return look.now - since;
  std::int64_t longest = 0;
  for (const CompiledStep& step : look.plan.steps)
    longest = std::max(longest, step.is_message() ? step.bytes : 0);
  return look.now - since - longest * watch_tuning.for_each_byte;
}

/// Copies and kernels of this rank wait for nobody, but for streams that the hardware puts in front of them.
void HangWatch::require_device_moves(const Look& look) const {
  const std::int64_t limit = workspace_.settings().hang_seconds * second;
  if (limit == 0 || !device_work_ || look.now - device_work_->since() < limit) return;
  throw Error(
      fmt::format("copies of rank {} have not moved on its device for {}: they may be behind a stream that waits for "
                  "them, as {}; allowed: CUDA_DEVICE_MAX_CONNECTIONS=32, or calls in fewer streams",
                  workspace_.rank().value(), records::duration_in_words(look.now - device_work_->since()),
                  workspace_.streams().gates().in_words()));
}

/// The lowest rank that waits reports. It may not wait at all, but compute beside a nonblocking call: its turn passes
/// after a while.
bool HangWatch::leaves_report_to_others(const std::vector<Situation>& all, const records::Signature& mine,
                                        std::int64_t overdue) const {
  std::int64_t lower = 0;
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    const Situation& its = all[static_cast<std::size_t>(rank)];
    if (its.has_reported) return true;
    if (rank < mine.rank && its.place == Situation::Whereabouts::inside) ++lower;
  }
  return overdue < std::min<std::int64_t>(lower, 3) * watch_tuning.for_lower_ranks;
}

void HangWatch::report_hang(const Look& look) {
  const std::int64_t limit = workspace_.settings().hang_seconds * second;
  if (limit == 0 || has_reported_ || look.now - since_ < limit / 2) return;
  others_bytes_.note(progress_of_others(look.call), look.now);
  std::int64_t overdue = still_for(look) - limit;
  if (overdue < 0) return;
  OtherRanks& others = workspace_.peers().others();
  if (workspace_.members().node_count() > 1) {
    others.ask_all(look.call);
    overdue -= watch_tuning.for_answers;
    if (overdue < 0) return;
  }
  const std::vector<Situation> all = others.situations(look.call, look.now);
  if (leaves_report_to_others(all, look.call, overdue)) return;
  has_reported_ = true;
  workspace_.recorder().reported(look.call);
  log::report("", records::hang_report(all, look.call, look.now - since_));
  if (workspace_.settings().hang_action != HangAction::abort) return;
  flush_records(workspace_.runtime());
  mpi::api.Abort(workspace_.carrier().comm(), 1);
}

}  // namespace tutti::detail
