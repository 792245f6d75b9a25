#include "tests/fake_cuda/driver/clock.hpp"

#include <sched.h>

#include <algorithm>
#include <mutex>

namespace fake_cuda {

void SpinLock::lock() {
  while (taken_.exchange(1, std::memory_order_acquire) != 0)
    sched_yield();
}

void SharedClock::store(const Clock& clock) {
  const std::lock_guard lock{lock_};
  count_ = 0;
  for (const auto& [stream, sequence] : clock.all())
    if (count_ < most) entries_[count_++] = {stream, sequence};
}

Clock SharedClock::load() {
  const std::lock_guard lock{lock_};
  Clock clock;
  for (std::uint64_t i = 0; i < count_; ++i)
    clock.learn(entries_[i].stream, entries_[i].sequence);
  return clock;
}

void WordClocks::store(std::uint64_t offset, const Clock& clock) {
  const std::lock_guard lock{lock_};
  Word* const end = words_ + std::min<std::uint64_t>(count_, most);
  Word* found = std::find_if(words_, end, [&](const Word& word) { return word.offset == offset; });
  if (found == end) found = &words_[count_++ % most];
  found->offset = offset;
  found->clock.store(clock);
}

Clock WordClocks::load(std::uint64_t offset) {
  const std::lock_guard lock{lock_};
  Word* const end = words_ + std::min<std::uint64_t>(count_, most);
  Word* const found = std::find_if(words_, end, [&](const Word& word) { return word.offset == offset; });
  return found == end ? Clock{} : found->clock.load();
}

std::optional<Access> History::add(const Access& access, const Clock& clock) {
  const std::lock_guard lock{lock_};
  std::optional<Access> unordered;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count_, most); ++i) {
    const Access& other = accesses_[i];
    const bool overlaps = other.begin < access.end && access.begin < other.end;
    if (!overlaps || other.stream == access.stream || !(other.writes || access.writes)) continue;
    const bool is_told = other.is_known && process_of(other.stream) != process_of(access.stream);
    if (!is_told && !clock.knows(other.stream, other.sequence)) unordered = other;
  }
  accesses_[count_++ % most] = access;
  return unordered;
}

void History::learn(std::uint64_t stream, std::uint64_t sequence) {
  const std::lock_guard lock{lock_};
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count_, most); ++i)
    if (accesses_[i].stream == stream && accesses_[i].sequence <= sequence) accesses_[i].is_known = true;
}

}  // namespace fake_cuda
