#include "lib/runtime/watch.hpp"

#include <fmt/format.h>

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

template <class Text>
void put(std::string_view text, Text& into) {
  const std::size_t length = std::min(text.size(), into.size() - 1);
  std::copy_n(text.begin(), length, into.begin());
  into[length] = '\0';
}

}  // namespace

const records::Journal* Watch::journal_of(int rank) const {
  const int local = communicator_.paths().locals()[static_cast<std::size_t>(rank)];
  return local < 0 ? nullptr : communicator_.carrier().fabric().journal(local);
}

int Watch::on_carrier(int rank) const { return communicator_.members().on_carrier()[static_cast<std::size_t>(rank)]; }

void Watch::look(const Operation& operation, std::int64_t now) {
  const std::int64_t waited = now - operation.since();
  if (const auto failure = failure_of_peer()) throw PeerError(failure->kind, failure->why);
  const records::Call mine = operation.call();
  const records::Wait wait = operation.wait();
  if (wait.peer >= 0 && mine.action < records::Action::messages) require_match(mine, wait.peer);
  if (waited >= watch_tuning.before_processes) {
    require_alive(operation);
    require_no_cycle(mine, wait.peer, now);
  }
  if (communicator_.members().node_count() > 1 && waited >= watch_tuning.before_questions) {
    communicator_.runtime().serve_channels();
    if (wait.peer >= 0 && is_far(wait.peer)) ask_now_and_then(mine, wait.peer, now);
  }
  report_hang(operation, now);
}

std::optional<PeerFailure> Watch::failure_of_peer() const {
  if (far_failure_) return far_failure_;
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = journal_of(rank);
    if (journal == nullptr || journal->failures() == 0) continue;
    if (auto failure = journal->failure_of(communicator_.id()))
      return PeerFailure{failure->kind, std::move(failure->why)};
  }
  return std::nullopt;
}

std::optional<std::string> Watch::mismatch_with(const records::Call& mine, int rank) const {
  if (mine.action >= records::Action::messages) return std::nullopt;
  if (const records::Journal* const journal = journal_of(rank)) {
    const auto pair = first_mismatch(communicator_.recorder().journal(), *journal, mine.communicator);
    return pair ? std::optional{records::mismatch_in_words(pair->mine, pair->theirs)} : std::nullopt;
  }
  const auto answer = answers_.find(rank);
  const bool is_other =
      answer != answers_.end() && asked_about_ == mine.sequence && answer->second.place == Situation::Place::elsewhere;
  return is_other ? std::optional{records::mismatch_in_words(mine, answer->second.call.call)} : std::nullopt;
}

void Watch::require_match(const records::Call& mine, int rank) const {
  const records::Journal* const journal = journal_of(rank);
  // Most looks end here, without a comparison of all calls.
  const auto same = journal == nullptr ? std::nullopt : entry_of(*journal, mine.communicator, mine.sequence);
  if (same && match(mine, same->call)) return;
  if (const auto why = mismatch_with(mine, rank)) throw MismatchError(*why);
  const auto closing = journal == nullptr ? std::nullopt : closing_of(*journal, mine.communicator);
  if (closing && closing->call.sequence <= mine.sequence)
    throw MismatchError(fmt::format("rank {} closed the communicator, or called MPI_Finalize, instead of {}", rank,
                                    records::in_words(mine)));
}

namespace {

bool is_blocked(const records::Entry& entry) {
  return entry.state == records::State::inside && entry.call.manner == records::Manner::blocking &&
         entry.wait.peer >= 0;
}

/// The latest blocking call that a rank is inside, if it waits for another rank there.
std::optional<records::Entry> blocked_in(const records::Journal& journal) {
  for (const records::Entry& entry : journal.latest(records::kept))
    if (entry.state == records::State::inside && entry.call.manner == records::Manner::blocking)
      return is_blocked(entry) ? std::optional{entry} : std::nullopt;
  return std::nullopt;
}

}  // namespace

std::optional<Watch::Blocked> Watch::place_of(int rank, records::CommunicatorId id, std::uint32_t sequence) const {
  const records::Journal* const journal = journal_of(rank);
  if (journal != nullptr) {
    const auto come = entry_of(*journal, id, sequence);
    if (!come) return Blocked{false, blocked_in(*journal)};
    return Blocked{true, is_blocked(*come) ? come : std::nullopt};
  }
  const auto answer = answers_.find(rank);
  if (answer == answers_.end() || asked_about_ != sequence) return std::nullopt;
  const Situation& its = answer->second;
  const auto blocked = its.has_call && is_blocked(its.call) ? std::optional{its.call} : std::nullopt;
  return Blocked{its.place != Situation::Place::not_come, blocked};
}

/// Follows the waits of ranks that have not come, because each is inside a call on another communicator. The chain ends
/// where this rank is waited for, in a call that it has not made; nothing: it does not.
std::optional<Watch::Cycle> Watch::cycle(const records::Call& mine, int rank) const {
  constexpr int most_hops = 64;
  const Runtime& runtime = communicator_.runtime();
  CommunicatorState* where = &communicator_;
  std::uint32_t sequence = mine.sequence;
  std::string text = fmt::format("rank {} is in {} on {}", mine.rank, in_words(mine), communicator_in_words(mine));
  for (int hop = 0; hop < most_hops; ++hop) {
    const bool is_me = rank == where->rank().value();
    const auto found = where->watch().place_of(rank, where->id(), sequence);
    if (is_me)
      return hop > 0 && found && !found->has_come
                 ? std::optional{Cycle{text + ", which the first has not called: they wait for each other", where}}
                 : std::nullopt;
    if (!found || !found->blocked) return std::nullopt;
    const auto& blocked = found->blocked;
    if (!found->has_come)
      text += fmt::format(" and waits for a rank that is in {} on {}", in_words(blocked->call),
                          communicator_in_words(blocked->call));
    where = runtime.find_open(blocked->call.communicator, where->carrier());
    if (where == nullptr) return std::nullopt;
    sequence = blocked->call.sequence;
    rank = blocked->wait.peer;
  }
  return std::nullopt;
}

/// Threads might still make the calls that are missing. Two looks have to see the same.
void Watch::require_no_cycle(const records::Call& mine, int rank, std::int64_t now) {
  const bool has_threads = communicator_.progress().has_many_threads();
  if (mine.manner != records::Manner::blocking || (has_threads && !communicator_.settings().checks_arguments)) return;
  const auto found = cycle(mine, rank);
  const std::string text = found ? found->text : "";
  if (text.empty() || text != suspected_) {
    suspected_ = text;
    suspected_at_ = now;
  } else if (now - suspected_at_ >=
             (has_threads ? watch_tuning.before_cycle_with_threads : watch_tuning.before_cycle)) {
    // The others wait on another communicator, which cannot be used any more either.
    found->last->poison(text);
    found->last->watch().tell(FailureKind::mismatch, text);
    throw MismatchError(text);
  }
}

/// All ranks of this node: one that this rank does not wait for may keep others from going on.
void Watch::require_alive(const Operation& operation) {
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = journal_of(rank);
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

void Watch::begin_questions(const records::Call& mine) {
  if (asked_about_ == mine.sequence) return;
  answers_.clear();
  asked_about_ = mine.sequence;
  asked_at_ = 0;
  has_asked_all_ = false;
}

void Watch::ask(const records::Call& mine, int rank) {
  const mpi::Word question{.kind = mpi::Word::Kind::question, .rank = communicator_.rank().value(), .call = mine};
  communicator_.carrier().channel().send(on_carrier(rank), question);
}

void Watch::ask_now_and_then(const records::Call& mine, int rank, std::int64_t now) {
  begin_questions(mine);
  if (now - asked_at_ < watch_tuning.between_questions) return;
  asked_at_ = now;
  ask(mine, rank);
}

void Watch::ask_all(const records::Call& mine) {
  begin_questions(mine);
  if (std::exchange(has_asked_all_, true)) return;
  for (int rank = 0; rank < communicator_.members().size(); ++rank)
    if (is_far(rank)) ask(mine, rank);
}

void Watch::answer(const mpi::Word& question, int to) {
  const std::int64_t now = records::coarse_now();
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = journal_of(rank);
    if (journal == nullptr) continue;
    mpi::Word answer{.kind = mpi::Word::Kind::answer, .rank = rank, .call = question.call};
    answer.situation = situation_of(*journal, question.call, now);
    const bool answers_itself = answer.situation.place == Situation::Place::inside;
    if (rank != communicator_.rank().value() && answers_itself) continue;
    communicator_.carrier().channel().send(to, answer);
  }
}

void Watch::take(const mpi::Word& word) {
  if (word.kind == mpi::Word::Kind::answer) {
    if (word.call.sequence == asked_about_) answers_[word.rank] = word.situation;
    return;
  }
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
    if (is_far(rank)) communicator_.carrier().channel().send(on_carrier(rank), word);
}

std::vector<Situation> Watch::situations(const records::Call& mine, std::int64_t now) const {
  std::vector<Situation> all(static_cast<std::size_t>(communicator_.members().size()));
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    const records::Journal* const journal = journal_of(rank);
    Situation& its = all[static_cast<std::size_t>(rank)];
    if (journal != nullptr)
      its = situation_of(*journal, mine, now);
    else if (const auto answer = answers_.find(rank); answer != answers_.end() && asked_about_ == mine.sequence)
      its = answer->second;
  }
  return all;
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

void Watch::report_hang(const Operation& operation, std::int64_t now) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t limit = communicator_.settings().hang_seconds * second;
  std::int64_t overdue = now - operation.since() - limit;
  if (limit == 0 || overdue < 0) return;
  const records::Call mine = operation.call();
  if (communicator_.recorder().journal().has_reported(mine)) return;
  if (communicator_.members().node_count() > 1) {
    ask_all(mine);
    overdue -= watch_tuning.for_answers;
    if (overdue < 0) return;
  }
  const std::vector<Situation> all = situations(mine, now);
  if (leaves_report_to_others(all, mine, overdue)) return;
  communicator_.recorder().reported(mine);
  log::report("", records::hang_report(all, mine, now - operation.since()));
  if (communicator_.settings().hang_action == HangAction::abort) mpi::api.Abort(communicator_.carrier().comm(), 1);
}

}  // namespace tutti::detail
