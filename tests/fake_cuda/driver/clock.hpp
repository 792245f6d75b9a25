#pragma once
// Vector clocks: which operations of which streams are known to be over. They find accesses that nothing orders.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

namespace fake_cuda {

/// A stream's number, unique over all processes.
constexpr std::uint64_t stream_key(std::uint64_t process, std::uint64_t number) { return (process << 24) + number; }
constexpr std::uint64_t process_of(std::uint64_t stream) { return stream >> 24; }

/// The time of a clock that all processes share.
std::uint64_t now_ns();

/// For each stream (of any process) the last operation that is known to be over. A host may tell other processes what
/// it knows, in ways that nobody sees: so all that other hosts knew at the time told() counts as known, too.
class Clock {
 public:
  [[nodiscard]] bool knows(std::uint64_t stream, std::uint64_t sequence) const {
    const auto found = known_.find(stream);
    return found != known_.end() && found->second >= sequence;
  }
  void learn(std::uint64_t stream, std::uint64_t sequence) {
    std::uint64_t& known = known_[stream];
    if (known < sequence) known = sequence;
  }
  void join(const Clock& other) {
    for (const auto& [stream, sequence] : other.known_)
      learn(stream, sequence);
    hear(other.told_);
  }
  void hear(std::uint64_t time_ns) { told_ = std::max(told_, time_ns); }
  [[nodiscard]] std::uint64_t told() const { return told_; }
  /// Whether it knows all that the other knows, but for what the other was told.
  [[nodiscard]] bool knows_all_of(const Clock& other) const {
    return std::all_of(other.known_.begin(), other.known_.end(),
                       [&](const auto& each) { return knows(each.first, each.second); });
  }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& all() const { return known_; }

 private:
  std::map<std::uint64_t, std::uint64_t> known_;
  std::uint64_t told_ = 0;
};

/// A lock in memory that processes share.
class SpinLock {
 public:
  void lock();
  void unlock() { taken_.store(0, std::memory_order_release); }

 private:
  std::atomic<int> taken_;
};

// What follows lies in memory that processes share. Its room is for far more than tests need, and memory that is not
// used has no pages. Where the room ends nevertheless, that is a fault by name (`no-room`): nothing is lost silently.

/// The clock of an event when it was recorded.
class SharedClock {
 public:
  void store(const Clock& clock);
  [[nodiscard]] Clock load();

 private:
  static constexpr std::size_t most = 1024;
  struct Entry {
    std::uint64_t stream, sequence;
  };
  SpinLock lock_;
  std::uint64_t count_, told_;
  Entry entries_[most];
};

/// The clocks of words that streams wrote: a wait that sees a value is after the write.
class WordClocks {
 public:
  void store(std::uint64_t offset, const Clock& clock);
  /// Nothing is known of a word that no stream has written.
  [[nodiscard]] Clock load(std::uint64_t offset);

 private:
  static constexpr std::size_t most = 256;
  struct Word {
    std::uint64_t offset;
    SharedClock clock;
  };
  SpinLock lock_;
  std::uint64_t count_;
  Word words_[most];
};

struct Access {
  std::uint64_t stream, sequence, begin, end;  ///< Bytes of the allocation.
  bool writes;
  /// Processes whose hosts have seen that it is over, and when; process 0: none. Two are enough: an access of any
  /// process is told by one of them.
  struct Witness {
    std::uint64_t process, at_ns;
  } witnesses[2];
};

/// The accesses to an allocation that may still race with one to come.
class History {
 public:
  /// Notes an access, made by an operation that knows `clock`. Returns an earlier one that nothing orders with it.
  ///
  /// The access stands for earlier ones that it covers: for reads, and for writes if it writes. They are ordered before
  /// it, so an access that races with one of them either races with this one, or is ordered after both.
  std::optional<Access> add(const Access& access, const Clock& clock);
  /// An access of a process that is not known to be over to its host, which knows `clock`.
  [[nodiscard]] std::optional<Access> unknown(std::uint64_t process, const Clock& clock);
  /// The host of a process knows `clock`. `forgets`: so will all operations that run from now on.
  void learn(std::uint64_t process, const Clock& clock, bool forgets);

 private:
  static constexpr std::size_t most = 1 << 15;
  void remove(std::uint64_t index) { accesses_[index] = accesses_[--count_]; }
  SpinLock lock_;
  std::uint64_t count_;
  Access accesses_[most];
};

/// What is known of the accesses to an allocation.
struct Tracks {
  History history;
  WordClocks words;
};

}  // namespace fake_cuda
