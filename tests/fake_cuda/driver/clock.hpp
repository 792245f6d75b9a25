#pragma once
// Vector clocks: which operations of which streams are known to be over. They find accesses that nothing orders.

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>

namespace fake_cuda {

/// A stream's number, unique over all processes.
constexpr std::uint64_t stream_key(std::uint64_t process, std::uint64_t number) { return (process << 24) + number; }
constexpr std::uint64_t process_of(std::uint64_t stream) { return stream >> 24; }

/// For each stream (of any process) the last operation that is known to be over.
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
  }
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& all() const { return known_; }

 private:
  std::map<std::uint64_t, std::uint64_t> known_;
};

/// A lock in memory that processes share.
class SpinLock {
 public:
  void lock();
  void unlock() { taken_.store(0, std::memory_order_release); }

 private:
  std::atomic<int> taken_;
};

/// A clock in memory that processes share: that of an event when it was recorded.
class SharedClock {
 public:
  void store(const Clock& clock);
  [[nodiscard]] Clock load();

 private:
  static constexpr std::size_t most = 100;
  struct Entry {
    std::uint64_t stream, sequence;
  };
  SpinLock lock_;
  std::uint64_t count_;
  Entry entries_[most];
};

/// The clocks of words that streams wrote, in memory that processes share: a wait that sees a value is after the write.
class WordClocks {
 public:
  void store(std::uint64_t offset, const Clock& clock);
  /// Nothing is known of a word that no stream has written.
  [[nodiscard]] Clock load(std::uint64_t offset);

 private:
  static constexpr std::size_t most = 16;
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
  bool is_known;  ///< To the host of its process, which may have told other processes.
};

/// The last accesses to an allocation, in memory that all processes share which have mapped it.
class History {
 public:
  /// Notes an access, made by an operation that knows `clock`. Returns an earlier one that nothing orders with it.
  std::optional<Access> add(const Access& access, const Clock& clock);
  /// The host has seen that a stream came to `sequence`.
  void learn(std::uint64_t stream, std::uint64_t sequence);

 private:
  static constexpr std::size_t most = 128;
  SpinLock lock_;
  std::uint64_t count_;
  Access accesses_[most];
};

}  // namespace fake_cuda
