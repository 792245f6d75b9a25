#include "lib/watch/peer_watch.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <utility>

#include "lib/watch/records/recorder.hpp"
#include "lib/watch/records/text.hpp"
#include "lib/watch/watch_tuning.hpp"

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

std::optional<PeerFailure> PeerWatch::failure_of_peer() const {
  if (far_failure_) return far_failure_;
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = others_.journal_of(rank);
    if (journal == nullptr || journal->failures() == 0) continue;
    if (auto failure = journal->failure_of(communicator_.id()))
      return PeerFailure{failure->kind, std::move(failure->why)};
  }
  return std::nullopt;
}

std::optional<PeerFailure> PeerWatch::listen() {
  for (const std::int64_t end = records::coarse_now() + watch_tuning.for_word_of_failure;;) {
    communicator_.runtime().serve_mailboxes();
    auto failure = failure_of_peer();
    if (failure || records::coarse_now() > end) return failure;
  }
}

std::optional<std::string> PeerWatch::mismatch_with(const records::Signature& mine, int rank) const {
  if (mine.action >= records::Action::messages) return std::nullopt;
  if (const records::Journal* const journal = others_.journal_of(rank)) {
    const auto pair = first_mismatch(communicator_.recorder().journal(), *journal, mine.communicator);
    return pair ? std::optional{records::mismatch_in_words(pair->mine, pair->theirs)} : std::nullopt;
  }
  const Situation* const its = others_.answer_of(rank, mine.sequence);
  const bool is_other = its != nullptr && its->place == Situation::Whereabouts::elsewhere;
  return is_other ? std::optional{records::mismatch_in_words(mine, its->call.call)} : std::nullopt;
}

/// A sender may be about to write the record of its call: short calls write it while they wait.
std::string PeerWatch::explained(const records::Signature& mine, const WrongMessage& error) const {
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

void PeerWatch::require_match(const records::Signature& mine, int rank) const {
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

void PeerWatch::take(const mpi::Letter& letter) {
  if (letter.kind == mpi::Letter::Kind::answer) return others_.take(letter);
  if (far_failure_) return;
  far_failure_ = PeerFailure{letter.failure, std::string{letter.text.data()}};
  communicator_.recorder().fail(communicator_.id(), letter.failure, far_failure_->why);  // for the others of this node
}

void PeerWatch::tell(FailureKind kind, const std::string& why) {
  communicator_.recorder().fail(communicator_.id(), kind, why);
  if (communicator_.members().node_count() == 1) return;
  mpi::Letter letter{.kind = mpi::Letter::Kind::failure, .failure = kind, .rank = communicator_.rank().value()};
  letter.call.communicator = communicator_.id();
  put(why, letter.text);
  for (int rank = 0; rank < communicator_.members().size(); ++rank)
    if (others_.is_far(rank)) others_.send(rank, letter);
  // An MPI may still have to connect to some of them, and the program end next.
  for (const std::int64_t end = records::coarse_now() + watch_tuning.for_word_to_leave; records::coarse_now() < end;)
    communicator_.runtime().serve_mailboxes();
}

}  // namespace tutti::detail
