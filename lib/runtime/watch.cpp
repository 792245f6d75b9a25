#include "lib/runtime/watch.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "lib/records/recorder.hpp"
#include "lib/records/text.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/log.hpp"
#include "lib/runtime/operation.hpp"
#include "lib/runtime/runtime.hpp"
#include "lib/runtime/watch_tuning.hpp"
#include "lib/transport/mpi/api.hpp"

namespace tutti::detail {
namespace {

using records::FailureKind;
using records::Situation;

constexpr std::int64_t second = 1'000'000'000;

template <class Text>
void put(std::string_view text, Text& into) {
  const std::size_t length = std::min(text.size(), into.size() - 1);
  std::copy_n(text.begin(), length, into.begin());
  into[length] = '\0';
}

}  // namespace

void Watch::look(Operation& operation, std::int64_t now) {
  const std::int64_t waited = now - operation.since();
  if (const auto failure = failure_of_peer()) throw PeerError(failure->kind, failure->why);
  const records::Call mine = operation.call();
  const records::Wait wait = operation.wait();
  if (wait.peer >= 0 && mine.action < records::Action::messages) require_match(mine, wait.peer);
  if (waited >= watch_tuning.before_processes) {
    require_alive(operation);
    require_no_cycle(mine, wait.peer, now);
    require_no_loss(operation, now);
  }
  if (communicator_.members().node_count() > 1 && waited >= watch_tuning.before_questions) {
    communicator_.runtime().serve_channels();
    if (wait.peer >= 0 && others_.is_far(wait.peer)) others_.ask_now_and_then(mine, wait.peer, now);
  }
  require_device_moves(operation, now);
  report_hang(operation, now);
}

std::optional<PeerFailure> Watch::failure_of_peer() const {
  if (far_failure_) return far_failure_;
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = others_.journal_of(rank);
    if (journal == nullptr || journal->failures() == 0) continue;
    if (auto failure = journal->failure_of(communicator_.id()))
      return PeerFailure{failure->kind, std::move(failure->why)};
  }
  return std::nullopt;
}

std::optional<PeerFailure> Watch::listen() {
  for (const std::int64_t end = records::coarse_now() + watch_tuning.for_word_of_failure;;) {
    communicator_.runtime().serve_channels();
    auto failure = failure_of_peer();
    if (failure || records::coarse_now() > end) return failure;
  }
}

std::optional<std::string> Watch::mismatch_with(const records::Call& mine, int rank) const {
  if (mine.action >= records::Action::messages) return std::nullopt;
  if (const records::Journal* const journal = others_.journal_of(rank)) {
    const auto pair = first_mismatch(communicator_.recorder().journal(), *journal, mine.communicator);
    return pair ? std::optional{records::mismatch_in_words(pair->mine, pair->theirs)} : std::nullopt;
  }
  const Situation* const its = others_.answer_of(rank, mine.sequence);
  const bool is_other = its != nullptr && its->place == Situation::Place::elsewhere;
  return is_other ? std::optional{records::mismatch_in_words(mine, its->call.call)} : std::nullopt;
}

/// A sender may be about to write the record of its call: short calls write it while they wait.
std::string Watch::explained(const records::Call& mine, const WrongMessage& error) const {
  const std::string what = error.what();
  const int rank = error.peer();
  const records::Journal* const journal = others_.journal_of(rank);
  if (mine.action < records::Action::messages)
    for (const std::int64_t end = records::coarse_now() + watch_tuning.for_record; records::coarse_now() <= end;) {
      if (const auto calls = mismatch_with(mine, rank)) return *calls + "; " + what;
      const auto its = journal == nullptr ? std::nullopt : entry_of(*journal, mine.communicator, mine.sequence);
      if (its && !mine.is_uneven) return what + ": both ranks called the same, so that a message was lost or damaged";
      if (its || journal == nullptr) break;  // records do not have lists of counts
      sched_yield();
    }
  return what + ": do both ranks call the same, with the same arguments and order?";
}

void Watch::require_match(const records::Call& mine, int rank) const {
  const records::Journal* const journal = others_.journal_of(rank);
  // Most looks end here, without a comparison of all calls.
  const auto same = journal == nullptr ? std::nullopt : entry_of(*journal, mine.communicator, mine.sequence);
  if (same && match(mine, same->call)) return;
  if (const auto why = mismatch_with(mine, rank)) throw MismatchError(*why);
  const auto closing = journal == nullptr ? std::nullopt : closing_of(*journal, mine.communicator);
  if (closing && closing->call.sequence <= mine.sequence)
    throw MismatchError(fmt::format("rank {} closed the communicator, or called MPI_Finalize, instead of {}", rank,
                                    records::in_words(mine)));
}

void Watch::require_no_cycle(const records::Call& mine, int rank, std::int64_t now) {
  const auto found = cycles_.look(mine, rank, now);
  if (!found) return;
  // The others wait on another communicator, which cannot be used any more either.
  found->last->poison(found->text);
  found->last->watch().tell(FailureKind::mismatch, found->text);
  throw MismatchError(found->text);
}

/// All ranks of this node: one that this rank does not wait for may keep others from going on.
void Watch::require_alive(const Operation& operation) {
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = others_.journal_of(rank);
    if (journal == nullptr || rank == communicator_.rank().value()) continue;
    const records::ProcessWatch& process = communicator_.runtime().process_watch(journal->identity());
    if (!process.has_ended()) continue;
    const Situation its = situation_of(*journal, operation.call(), records::coarse_now());
    // It may well have done its part, and ended the program in an orderly way.
    if (its.place == Situation::Place::done && operation.wait().peer != rank) continue;
    const int signal = process.signal();
    const std::string how = signal == 0 ? "" : ": killed by " + records::signal_in_words(signal);
    const std::string wait = records::in_words(operation.wait());
    throw PeerError(FailureKind::death,
                    fmt::format("rank {} (process {} on {}) has ended{}, while rank {} {}", rank, its.pid,
                                journal->identity().host.data(), how, communicator_.rank().value(),
                                wait.empty() ? "was in the call" : wait),
                    PeerError::Told::no);
  }
}

/// A sender in shared memory is done when its message can be seen: one that cannot be seen has been lost.
void Watch::require_no_loss(const Operation& operation, std::int64_t now) {
  const records::Call mine = operation.call();
  const records::Wait wait = operation.wait();
  if (wait.what != records::Wait::For::message_from || !operation.waits_for_shared_memory()) return;
  const records::Journal* const journal = others_.journal_of(wait.peer);
  const auto its = journal == nullptr ? std::nullopt : entry_of(*journal, mine.communicator, mine.sequence);
  if (!its || its->state != records::State::over || !match(its->call, mine)) return;
  const void* const plan = &operation.current_plan();
  if (missing_.plan != plan || missing_.sequence != mine.sequence || missing_.step != wait.step)
    missing_ = {plan, mine.sequence, wait.step, now};
  if (now - missing_.since < watch_tuning.before_loss) return;
  throw Error(
      fmt::format("a message from rank {} for step {} has been lost: that rank has sent it, and has been done "
                  "with the call for {} or longer",
                  wait.peer, wait.step, records::duration_in_words(now - missing_.since)));
}

void Watch::take(const mpi::Word& word) {
  if (word.kind == mpi::Word::Kind::answer) return others_.take(word);
  if (far_failure_) return;
  far_failure_ = PeerFailure{word.failure, std::string{word.text.data()}};
  communicator_.recorder().fail(communicator_.id(), word.failure, far_failure_->why);  // for the others of this node
}

void Watch::tell(FailureKind kind, const std::string& why) {
  communicator_.recorder().fail(communicator_.id(), kind, why);
  if (communicator_.members().node_count() == 1) return;
  mpi::Word word{.kind = mpi::Word::Kind::failure, .failure = kind, .rank = communicator_.rank().value()};
  word.call.communicator = communicator_.id();
  put(why, word.text);
  for (int rank = 0; rank < communicator_.members().size(); ++rank)
    if (others_.is_far(rank)) others_.send(rank, word);
  // An MPI may still have to connect to some of them, and the program end next.
  for (const std::int64_t end = records::coarse_now() + watch_tuning.for_word_to_leave; records::coarse_now() < end;)
    communicator_.runtime().serve_channels();
}

/// The lowest rank that waits reports. It may not wait at all, but compute beside a nonblocking call: its turn passes
/// after a while.
bool Watch::leaves_report_to_others(const std::vector<Situation>& all, const records::Call& mine,
                                    std::int64_t overdue) const {
  std::int64_t lower = 0;
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    const Situation& its = all[static_cast<std::size_t>(rank)];
    if (its.has_reported) return true;
    if (rank < mine.rank && its.place == Situation::Place::inside) ++lower;
  }
  return overdue < std::min<std::int64_t>(lower, 3) * watch_tuning.for_lower_ranks;
}

/// A number that changes whenever a rank of this node has seen bytes of the call move, or is done with it.
std::uint64_t Watch::progress_of_others(const records::Call& mine) const {
  std::uint64_t seen = 0;
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = others_.journal_of(rank);
    const auto its = journal == nullptr ? std::nullopt : entry_of(*journal, mine.communicator, mine.sequence);
    if (its) seen = (seen ^ packed(its->wait) ^ static_cast<std::uint64_t>(its->state) << 61U) * 0x9e3779b97f4a7c15U;
  }
  return seen;
}

/// MPI, networks and devices tell of whole messages alone: a long one is given the time that a slow way would take.
std::int64_t Watch::still_for(const Operation& operation, std::int64_t now) const {
  const std::int64_t since = std::max(operation.own_bytes().since(), operation.others_bytes().since());
  const shm::SharedPlan& plan = operation.current_plan();
  const bool is_seen =
      communicator_.members().node_count() == 1 && std::ranges::all_of(plan.steps, [](const CompiledStep& step) {
        return !step.is_message() || step.transport == Transport::shm;
      });
  if (is_seen) return now - since;
  std::int64_t longest = 0;
  for (const CompiledStep& step : plan.steps)
    longest = std::max(longest, step.is_message() ? step.bytes : 0);
  return now - since - longest * watch_tuning.for_each_byte;
}

/// Copies and kernels of this rank wait for nobody, but for streams that the hardware puts in front of them.
void Watch::require_device_moves(const Operation& operation, std::int64_t now) const {
  const std::int64_t limit = communicator_.settings().hang.seconds * second;
  const std::optional<std::int64_t> since = operation.device_still_since();
  if (limit == 0 || !since || now - *since < limit) return;
  throw Error(
      fmt::format("copies of rank {} have not moved on its device for {}: they may be behind a stream that waits for "
                  "them, as {}; allowed: CUDA_DEVICE_MAX_CONNECTIONS=32, or calls in fewer streams",
                  communicator_.rank().value(), records::duration_in_words(now - *since),
                  communicator_.streams().gates().in_words()));
}

void Watch::report_hang(Operation& operation, std::int64_t now) {
  const std::int64_t limit = communicator_.settings().hang.seconds * second;
  if (limit == 0 || operation.has_reported_hang || now - operation.since() < limit / 2) return;
  operation.others_bytes().note(progress_of_others(operation.call()), now);
  std::int64_t overdue = still_for(operation, now) - limit;
  if (overdue < 0) return;
  const records::Call mine = operation.call();
  if (communicator_.members().node_count() > 1) {
    others_.ask_all(mine);
    overdue -= watch_tuning.for_answers;
    if (overdue < 0) return;
  }
  const std::vector<Situation> all = others_.situations(mine, now);
  if (leaves_report_to_others(all, mine, overdue)) return;
  operation.has_reported_hang = true;
  communicator_.recorder().reported(mine);
  log::report("", records::hang_report(all, mine, now - operation.since()));
  if (communicator_.settings().hang.action == HangAction::abort) mpi::api.Abort(communicator_.carrier().comm(), 1);
}

}  // namespace tutti::detail
