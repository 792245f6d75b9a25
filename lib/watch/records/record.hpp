#pragma once
// The record of an operation: one cache line, written by the process that makes the call, read by any other of the
// node.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/watch/records/signature.hpp"

namespace tutti::records {

/// Operations that each process keeps.
inline constexpr int kept = 256;

enum class State : std::uint8_t { none, being_written, inside, over, failed };

/// Why an operation is not over, as of the last look at it.
struct Wait {
  enum class For : std::uint8_t {
    nothing,
    message_from,   ///< To be received from `peer`.
    message_to,     ///< To be taken by `peer`.
    earlier_call,   ///< An operation before it is not over.
    device,         ///< Work on a device, or of a stream.
    all_arguments,  ///< The arguments of other ranks, which TUTTI_CHECK compares.
  };
  For what = For::nothing;
  int step = 0;  ///< So many steps of the plan are over, at least.
  int peer = -1;
  /// Looks at the operation that have found more bytes moved than the look before, modulo this.
  static constexpr unsigned progress_modulus = 32;
  unsigned progress = 0;
  friend bool operator==(const Wait&, const Wait&) = default;
};

/// An operation as another process sees it.
struct Entry {
  std::uint64_t number = 0;  ///< Among all of its process, from 1.
  State state = State::none;
  std::int64_t since = 0;  ///< CLOCK_MONOTONIC in ns, to a few milliseconds.
  Signature call{};
  Wait wait{};
  /// The age in ns. Modulo 2^64: a damaged record may hold any time.
  [[nodiscard]] std::int64_t age(std::int64_t now) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(since));
  }
};

[[nodiscard]] constexpr std::uint64_t packed(const Wait& wait) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(wait.peer)) << 32U |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(wait.step) & 0xffffffU) << 8U |
         static_cast<std::uint64_t>(wait.progress % Wait::progress_modulus) << 3U |
         static_cast<std::uint64_t>(wait.what);
}
[[nodiscard]] constexpr Wait unpacked(std::uint64_t word) {
  return {static_cast<Wait::For>(word & 0x7U), static_cast<int>(word >> 8U & 0xffffffU),
          static_cast<int>(static_cast<std::uint32_t>(word >> 32U)),
          static_cast<unsigned>(word >> 3U) % Wait::progress_modulus};
}

/// A record in memory that processes share. The state word holds the number of the operation and its State; the writer
/// marks it before and after it writes the others, so that a reader knows whether it saw one operation.
class alignas(64) Record {
 public:
  static constexpr unsigned state_bits = 3;

  void enter(std::uint64_t number, std::int64_t now, const Packed& call, std::uint64_t sequence, Manner manner) {
    state_.store(number << state_bits | static_cast<std::uint64_t>(State::being_written), std::memory_order_relaxed);
    // Each word is written after the mark, which a reader then finds when it looks again.
    since_.store(static_cast<std::uint64_t>(now), std::memory_order_release);
    for (std::size_t i = 0; i < call.size(); ++i)
      words_[i].store(with(call, i, sequence, manner), std::memory_order_release);
    wait_.store(packed(Wait{}), std::memory_order_release);
    state_.store(number << state_bits | static_cast<std::uint64_t>(State::inside), std::memory_order_release);
  }
  /// Notes the end of an operation; nothing if a later one has its place.
  void leave(std::uint64_t number, State state) {
    if (is_of(number))
      state_.store(number << state_bits | static_cast<std::uint64_t>(state), std::memory_order_relaxed);
  }
  void set_wait(std::uint64_t number, const Wait& wait) {
    if (is_of(number)) wait_.store(packed(wait), std::memory_order_relaxed);
  }

  /// The entry; nothing if there is none, or it is being written.
  [[nodiscard]] std::optional<Entry> read() const;
  [[nodiscard]] std::uint64_t number() const { return state_.load(std::memory_order_acquire) >> state_bits; }

 private:
  static std::uint64_t with(const Packed& call, std::size_t word, std::uint64_t sequence, Manner manner) {
    if (word == sequence_word) return call[word] | (sequence & 0xffffffffU);
    if (word == manner_word) return call[word] | static_cast<std::uint64_t>(manner) << manner_shift;
    return call[word];
  }
  [[nodiscard]] bool is_of(std::uint64_t number) const {
    return state_.load(std::memory_order_relaxed) >> state_bits == number;
  }

  using Word = std::atomic<std::uint64_t>;
  static_assert(Word::is_always_lock_free);
  Word state_{0}, since_{0};
  std::array<Word, std::tuple_size_v<Packed>> words_{};
  Word wait_{packed(Wait{})};
};
static_assert(sizeof(Record) == 64);

}  // namespace tutti::records
