#include "tests/fake_cuda/driver/clock.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "tests/fake_cuda/driver/report.hpp"

namespace fake_cuda {
namespace {

void no_room(const char* what, std::size_t most) {
  caught("no-room", text("more than %zu %s: races may be missed, or found where there is none", most, what));
}

/// Whether `other` is ordered before an access of an operation that knows `clock`.
bool is_before(const Access& other, const Access& access, const Clock& clock) {
  if (other.stream == access.stream || clock.knows(other.stream, other.sequence)) return true;
  return std::any_of(std::begin(other.witnesses), std::end(other.witnesses), [&](const Access::Witness& witness) {
    return witness.process != 0 && witness.process != process_of(access.stream) && witness.at_ns <= clock.told();
  });
}

void add_witness(Access& access, std::uint64_t process, std::uint64_t at_ns) {
  for (Access::Witness& witness : access.witnesses) {
    if (witness.process == process) return;
    if (witness.process != 0) continue;
    witness = {process, at_ns};
    return;
  }
}

/// Takes the bytes of `access` from an earlier one, unless that would leave two pieces. Whether none are left.
bool cut(Access& other, const Access& access) {
  if (access.begin <= other.begin)
    other.begin = std::min(access.end, other.end);
  else if (access.end >= other.end)
    other.end = std::max(access.begin, other.begin);
  return other.begin == other.end;
}

}  // namespace

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

void SpinLock::lock() {
  while (taken_.exchange(1, std::memory_order_acquire) != 0)
    sched_yield();
}

void SharedClock::store(const Clock& clock) {
  const std::lock_guard lock{lock_};
  count_ = 0;
  told_ = clock.told();
  for (const auto& [stream, sequence] : clock.all())
    if (count_ < most)
      entries_[count_++] = {stream, sequence};
    else
      return no_room("streams in the clock of an event or a word", most);
}

Clock SharedClock::load() {
  const std::lock_guard lock{lock_};
  Clock clock;
  clock.hear(told_);
  for (std::uint64_t i = 0; i < count_; ++i)
    clock.learn(entries_[i].stream, entries_[i].sequence);
  return clock;
}

void WordClocks::store(std::uint64_t offset, const Clock& clock) {
  const std::lock_guard lock{lock_};
  Word* const end = words_ + count_;
  Word* const found = std::find_if(words_, end, [&](const Word& word) { return word.offset == offset; });
  if (found == end && count_++ == most) {
    --count_;
    return no_room("words of an allocation that streams wrote", most);
  }
  found->offset = offset;
  found->clock.store(clock);
}

Clock WordClocks::load(std::uint64_t offset) {
  const std::lock_guard lock{lock_};
  Word* const end = words_ + count_;
  Word* const found = std::find_if(words_, end, [&](const Word& word) { return word.offset == offset; });
  return found == end ? Clock{} : found->clock.load();
}

std::optional<Access> History::add(const Access& access, const Clock& clock) {
  const std::lock_guard lock{lock_};
  std::optional<Access> unordered;
  for (std::uint64_t i = 0; i < count_;) {
    Access& other = accesses_[i];
    const bool overlaps = other.begin < access.end && access.begin < other.end;
    const bool is_ordered = !overlaps || is_before(other, access, clock);
    if (!is_ordered && (other.writes || access.writes)) unordered = other;
    if (overlaps && is_ordered && (access.writes || !other.writes) && cut(other, access))
      remove(i);
    else
      ++i;
  }
  if (count_ < most)
    accesses_[count_++] = access;
  else
    no_room("accesses to an allocation that may still race", most);
  return unordered;
}

std::optional<Access> History::unknown(std::uint64_t process, const Clock& clock) {
  const std::lock_guard lock{lock_};
  Access by_host{};
  by_host.stream = stream_key(process, 0);
  const auto is_unknown = [&](const Access& access) {
    return process_of(access.stream) == process && !is_before(access, by_host, clock);
  };
  const Access* const end = accesses_ + count_;
  const Access* const found = std::find_if(static_cast<const Access*>(accesses_), end, is_unknown);
  return found == end ? std::nullopt : std::optional{*found};
}

void History::learn(std::uint64_t process, const Clock& clock, bool forgets) {
  const std::lock_guard lock{lock_};
  const std::uint64_t now = now_ns();
  for (std::uint64_t i = 0; i < count_;) {
    Access& access = accesses_[i];
    const bool is_known = clock.knows(access.stream, access.sequence);
    if (is_known) add_witness(access, process, now);
    if (is_known && forgets)
      remove(i);
    else
      ++i;
  }
}

}  // namespace fake_cuda
