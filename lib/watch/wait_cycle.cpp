#include "lib/watch/wait_cycle.hpp"

#include <fmt/format.h>

#include "lib/watch/other_ranks.hpp"
#include "lib/watch/records/text.hpp"
#include "lib/watch/watch_tuning.hpp"

namespace tutti::detail {
namespace {

/// Whether a rank has made a call, and the blocking call in which it waits for another rank.
struct Blocked {
  bool has_come = false;
  std::optional<records::Entry> in{};
};

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

/// Whether a rank has come to a call, and what blocks it; nothing: that is not known.
std::optional<Blocked> blocked(const OpenCommunicator& communicator, int rank, std::uint32_t sequence) {
  const OtherRanks& others = communicator.others();
  if (const records::Journal* const journal = others.journal_of(rank)) {
    const auto come = entry_of(*journal, communicator.id(), sequence);
    if (!come) return Blocked{false, blocked_in(*journal)};
    return Blocked{true, is_blocked(*come) ? come : std::nullopt};
  }
  const records::Situation* const its = others.answer_of(rank, sequence);
  if (its == nullptr) return std::nullopt;
  return Blocked{its->place != records::Situation::Whereabouts::not_come,
                 its->has_call && is_blocked(its->call) ? std::optional{its->call} : std::nullopt};
}

}  // namespace

/// Follows the waits of ranks that have not come, because each is inside a call on another communicator. The chain ends
/// where this rank is waited for, in a call that it has not made.
std::optional<WaitCycle> CycleSearch::find(const records::Signature& mine, int rank) const {
  // By its number one knows whether a peer has come to a call.
  if (!records::is_numbered(mine)) return std::nullopt;
  constexpr int most_hops = 64;
  const Runtime& runtime = communicator_.runtime();
  OpenCommunicator* where = &communicator_;
  std::uint32_t sequence = mine.sequence;
  std::string text = fmt::format("ranks wait for each other: rank {} is in {} on {}", mine.rank, in_words(mine),
                                 communicator_in_words(mine));
  unsigned progress = 0;
  for (int hop = 0; hop < most_hops; ++hop) {
    const bool is_me = rank == where->rank().value();
    const auto found = blocked(*where, rank, sequence);
    if (is_me)
      return hop > 0 && found && !found->has_come
                 ? std::optional{WaitCycle{text + ", which the first has not called", where, progress}}
                 : std::nullopt;
    if (!found || !found->in || !records::is_numbered(found->in->call)) return std::nullopt;
    const records::Entry& in = *found->in;
    progress = (progress + in.wait.progress + 1) * 0x9e3779b1U;  // of all hops
    if (!found->has_come)
      text +=
          fmt::format(" and waits for a rank that is in {} on {}", in_words(in.call), communicator_in_words(in.call));
    where = runtime.find_open(in.call.communicator, where->carrier());
    if (where == nullptr) return std::nullopt;
    sequence = in.call.sequence;
    rank = in.wait.peer;
  }
  return std::nullopt;
}

std::optional<WaitCycle> CycleSearch::look(const records::Signature& mine, int rank, std::int64_t now) {
  const bool has_threads = communicator_.progress().has_many_threads();
  if (mine.manner != records::Manner::blocking || (has_threads && !communicator_.settings().checks_arguments))
    return std::nullopt;
  auto found = find(mine, rank);
  const bool is_same = found && found->text == suspected_.text && found->progress == suspected_.progress;
  if (!is_same) {
    suspected_ = found.value_or(WaitCycle{});
    suspected_at_ = now;
    return std::nullopt;
  }
  if (now - suspected_at_ < (has_threads ? watch_tuning.before_cycle_with_threads : watch_tuning.before_cycle))
    return std::nullopt;
  return found;
}

}  // namespace tutti::detail
