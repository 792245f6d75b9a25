#include "lib/watch/records/situation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "lib/watch/records/text.hpp"

namespace tutti::records {
namespace {

/// The entries of a journal for which `is` says so, the latest.
template <class Is>
std::optional<Entry> latest_if(const Journal& journal, const Is& is) {
  std::optional<Entry> latest;
  for (std::uint64_t place = 0; place < kept; ++place)
    if (const auto entry = journal.record(place).read(); entry && is(*entry))
      if (!latest || entry->number > latest->number) latest = entry;
  return latest;
}

Situation::Whereabouts place_of(const Entry& entry, const Signature& call) {
  if (!match(entry.call, call)) return Situation::Whereabouts::elsewhere;
  if (entry.state == State::inside) return Situation::Whereabouts::inside;
  return entry.state == State::failed ? Situation::Whereabouts::failed : Situation::Whereabouts::done;
}

std::string life_in_words(const Situation& its) {
  switch (its.life) {
    case Life::running:
      return "the process runs";
    case Life::asleep:
      return "the process sleeps, in the program or in MPI";
    case Life::stopped:
      return "the process is stopped (SIGSTOP, or a debugger)";
    case Life::dead:
      return its.signal == 0 ? "the process is dead"
                             : fmt::format("the process is dead: {}", signal_in_words(its.signal));
    case Life::unknown:
      break;
  }
  return "the state of the process is not known";
}

std::string last_call_in_words(const Situation& its) {
  if (!its.has_call) return "it has made no call";
  const std::string call = in_words(its.call.call);
  const std::string where = communicator_in_words(its.call.call);
  const std::string age = duration_in_words(its.age);
  if (its.call.state == State::inside) {
    const std::string wait = in_words(its.call.wait);
    return fmt::format("it is in {} on {}, since {}{}{}", call, where, age, wait.empty() ? "" : ", and ", wait);
  }
  return fmt::format("its last call was {} on {}, which began {} ago", call, where, age);
}

std::string place_in_words(const Situation& its) {
  switch (its.place) {
    case Situation::Whereabouts::inside: {
      const std::string wait = in_words(its.call.wait);
      return fmt::format("inside since {}{}{}", duration_in_words(its.age), wait.empty() ? "" : ", ", wait);
    }
    case Situation::Whereabouts::elsewhere:
      return fmt::format("has made another call: {}", in_words(its.call.call));
    case Situation::Whereabouts::done:
      return "has done its part";
    case Situation::Whereabouts::failed:
      return "its call failed";
    case Situation::Whereabouts::not_come:
      return fmt::format("has not come: {}; {}", last_call_in_words(its), life_in_words(its));
    case Situation::Whereabouts::silent:
      break;
  }
  return "does not answer";
}

std::string process_in_words(const Situation& its) {
  if (its.pid == 0) return "";
  const std::string stopped =
      its.place != Situation::Whereabouts::not_come && (its.life == Life::stopped || its.life == Life::dead)
          ? "; " + life_in_words(its)
          : "";
  const std::string_view host{its.host.data(), ::strnlen(its.host.data(), its.host.size())};
  return fmt::format(" (process {} on {}{})", its.pid, host, stopped);
}

/// The rank that one inside waits for; -1: for none.
int awaited_by(const Situation& its) {
  using For = Wait::For;
  const bool waits = its.place == Situation::Whereabouts::inside &&
                     (its.call.wait.what == For::message_from || its.call.wait.what == For::message_to);
  return waits ? its.call.wait.peer : -1;
}

}  // namespace

bool is_numbered(const Signature& call) { return call.action < Action::messages && call.manner != Manner::in_stream; }

bool match(const Signature& a, const Signature& b) {
  return a.action == b.action && a.fingerprint == b.fingerprint && (a.any_manner || a.manner == b.manner);
}

std::optional<Entry> entry_of(const Journal& journal, CommunicatorId communicator, std::uint32_t sequence) {
  return latest_if(journal, [&](const Entry& entry) {
    return entry.call.communicator == communicator && entry.call.sequence == sequence && is_numbered(entry.call);
  });
}

std::optional<Entry> closing_of(const Journal& journal, CommunicatorId communicator) {
  return latest_if(journal, [&](const Entry& entry) {
    return entry.call.communicator == communicator && entry.call.action == Action::close_communicator;
  });
}

namespace {

/// The state of the process, and the call that is shown for it.
Situation situation_with(const Journal& journal, const std::optional<Entry>& shown, std::int64_t now) {
  Situation its;
  const Identity& identity = journal.identity();
  const Process process =
      identity.pid_namespace == own_pid_namespace() ? process_of(identity.pid, identity.started) : Process{};
  its.life = process.life;
  its.signal = process.signal;
  its.pid = identity.pid;
  its.world_rank = identity.rank;
  its.host = identity.host;
  its.has_call = shown.has_value();
  if (shown) its.call = *shown;
  its.age = its.call.age(now);
  return its;
}

std::optional<Entry> latest_of(const Journal& journal) {
  return latest_if(journal, [](const Entry&) { return true; });
}

std::optional<Entry> making_of(const Journal& journal) {
  return latest_if(journal, [](const Entry& entry) {
    return entry.call.action == Action::make_communicator && entry.state == State::inside;
  });
}

}  // namespace

Situation situation_of(const Journal& journal, const Signature& call, std::int64_t now) {
  const auto same = entry_of(journal, call.communicator, call.sequence);
  Situation its = situation_with(journal, same ? same : latest_of(journal), now);
  its.place = same ? place_of(*same, call) : Situation::Whereabouts::not_come;
  its.has_reported = journal.has_reported(call);
  return its;
}

bool is_making(const Journal& journal) { return making_of(journal).has_value(); }

Situation making_situation_of(const Journal& journal, std::int64_t now) {
  const auto making = making_of(journal);
  Situation its = situation_with(journal, making ? making : latest_of(journal), now);
  its.place = making ? Situation::Whereabouts::inside : Situation::Whereabouts::not_come;
  return its;
}

std::optional<Pair> first_mismatch(const Journal& mine, const Journal& theirs, CommunicatorId communicator) {
  std::optional<Pair> first;
  for (std::uint64_t place = 0; place < kept; ++place) {
    const auto entry = mine.record(place).read();
    if (!entry || entry->call.communicator != communicator || !is_numbered(entry->call)) continue;
    if (first && first->mine.sequence < entry->call.sequence) continue;
    const auto other = entry_of(theirs, communicator, entry->call.sequence);
    if (other && !match(entry->call, other->call)) first = Pair{entry->call, other->call};
  }
  return first;
}

std::string mismatch_in_words(const Signature& mine, const Signature& theirs) {
  const std::string on_mine = fmt::format("on rank {}", mine.rank), on_theirs = fmt::format("on rank {}", theirs.rank);
  return fmt::format("{}: rank {} called {} where rank {} called {}", differences(mine, theirs, {on_mine, on_theirs}),
                     theirs.rank, in_words(theirs), mine.rank, in_words(mine));
}

std::string chain_in_words(std::span<const Situation> all, int from) {
  std::string text;
  std::vector<bool> seen(all.size());
  int rank = from;
  const auto is_rank = [&](int number) { return number >= 0 && number < static_cast<int>(all.size()); };
  for (int next = awaited_by(all[static_cast<std::size_t>(rank)]); is_rank(next);
       next = awaited_by(all[static_cast<std::size_t>(rank)])) {
    text += text.empty() ? fmt::format("rank {} waits for {}", rank, next) : fmt::format(", {} for {}", rank, next);
    seen[static_cast<std::size_t>(rank)] = true;
    rank = next;
    if (seen[static_cast<std::size_t>(rank)]) return text + ": they wait for each other";
  }
  const Situation& root = all[static_cast<std::size_t>(rank)];
  const bool is_still =
      root.place == Situation::Whereabouts::inside && (root.life == Life::stopped || root.life == Life::dead);
  return fmt::format("{}{}rank {} {}{}", text, text.empty() ? "" : "; ", rank, place_in_words(root),
                     is_still ? ", and " + life_in_words(root) : "");
}

namespace {

/// A line for each rank; of many that do the same, one.
std::string ranks_in_lines(std::span<const Situation> all) {
  constexpr std::size_t most_lines = 64;
  std::string text;
  std::vector<int> done, unlisted;
  std::size_t lines = 0;
  for (int rank = 0; rank < static_cast<int>(all.size()); ++rank) {
    const Situation& its = all[static_cast<std::size_t>(rank)];
    if (its.place == Situation::Whereabouts::done && its.life != Life::dead && its.life != Life::stopped)
      done.push_back(rank);
    else if (lines >= (its.place == Situation::Whereabouts::inside ? most_lines : 2 * most_lines))
      unlisted.push_back(rank);
    else
      text += fmt::format("\n  rank {}: {}{}", rank, place_in_words(its), process_in_words(its)), ++lines;
  }
  if (!done.empty()) text += fmt::format("\n  done with their part: {}", ranks_in_words(done));
  if (!unlisted.empty()) text += fmt::format("\n  not listed: {}", ranks_in_words(unlisted));
  return text;
}

}  // namespace

std::string hang_report(std::span<const Situation> all, const Signature& mine, std::int64_t waited) {
  return fmt::format("rank {} of {} has waited for {} in {} on {}{}\n  {}", mine.rank, mine.ranks,
                     duration_in_words(waited), in_words(mine), communicator_in_words(mine), ranks_in_lines(all),
                     chain_in_words(all, mine.rank));
}

std::string making_report(std::span<const Situation> all, int rank, std::int64_t waited) {
  const std::string text = fmt::format("rank {} of {} has waited for {} for all ranks to make a communicator", rank,
                                       all.size(), duration_in_words(waited));
  return text + ranks_in_lines(all);
}

}  // namespace tutti::records
