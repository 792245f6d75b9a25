#include "lib/watch/other_ranks.hpp"

#include <utility>

#include "lib/watch/records/recorder.hpp"
#include "lib/watch/watch_tuning.hpp"

namespace tutti::detail {

using records::Situation;

const records::Journal* OtherRanks::journal_of(int rank) const {
  const int local = communicator_.paths().locals()[static_cast<std::size_t>(rank)];
  return local < 0 ? nullptr : communicator_.carrier().fabric().journal(local);
}

void OtherRanks::send(int rank, const mpi::Letter& letter) {
  const int on_carrier = communicator_.members().on_carrier()[static_cast<std::size_t>(rank)];
  communicator_.carrier().mailbox().send(on_carrier, letter);
}

void OtherRanks::begin_questions(const records::Signature& mine) {
  if (asked_about_ == mine.sequence) return;
  answers_.clear();
  asked_about_ = mine.sequence;
  asked_at_ = 0;
  has_asked_all_ = false;
}

void OtherRanks::ask(const records::Signature& mine, int rank) {
  send(rank, {.kind = mpi::Letter::Kind::question, .rank = communicator_.rank().value(), .call = mine});
}

void OtherRanks::ask_now_and_then(const records::Signature& mine, int rank, std::int64_t now) {
  begin_questions(mine);
  if (now - asked_at_ < watch_tuning.between_questions) return;
  asked_at_ = now;
  ask(mine, rank);
}

void OtherRanks::ask_all(const records::Signature& mine) {
  begin_questions(mine);
  if (std::exchange(has_asked_all_, true)) return;
  for (int rank = 0; rank < communicator_.members().size(); ++rank)
    if (is_far(rank)) ask(mine, rank);
}

void OtherRanks::take(const mpi::Letter& answer) {
  if (answer.call.sequence == asked_about_) answers_[answer.rank] = answer.situation;
}

void OtherRanks::answer(const mpi::Letter& question, int to) {
  const std::int64_t now = records::coarse_now();
  for (int rank = 0; rank < communicator_.members().size(); ++rank) {
    const records::Journal* const journal = journal_of(rank);
    if (journal == nullptr) continue;
    mpi::Letter answer{.kind = mpi::Letter::Kind::answer, .rank = rank, .call = question.call};
    answer.situation = situation_of(*journal, question.call, now);
    const bool answers_itself = answer.situation.place == Situation::Whereabouts::inside;
    if (rank != communicator_.rank().value() && answers_itself) continue;
    communicator_.carrier().mailbox().send(to, answer);
  }
}

const Situation* OtherRanks::answer_of(int rank, std::uint32_t sequence) const {
  const auto answer = answers_.find(rank);
  return answer == answers_.end() || asked_about_ != sequence ? nullptr : &answer->second;
}

std::vector<Situation> OtherRanks::situations(const records::Signature& mine, std::int64_t now) const {
  std::vector<Situation> all(static_cast<std::size_t>(communicator_.members().size()));
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    Situation& its = all[static_cast<std::size_t>(rank)];
    if (const records::Journal* const journal = journal_of(rank))
      its = situation_of(*journal, mine, now);
    else if (const Situation* const answer = answer_of(rank, mine.sequence))
      its = *answer;
  }
  return all;
}

}  // namespace tutti::detail
