#pragma once
// The record of an operation: one cache line, written by the process that makes the call, read by any other of the
// node.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::records {

/// Operations that each process keeps.
inline constexpr int kept = 256;

/// The kind of an operation: a collective, or one of those behind.
enum class Action : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  allreduce,
  reduce_scatter,
  allgather,
  gather,
  scatter,
  alltoall,
  scan,
  exscan,
  messages,            ///< Between pairs of ranks; part of no collective.
  close_communicator,  ///< Its rank makes no further call there.
  make_communicator,   ///< The communicator has no name yet.
};
static_assert(static_cast<int>(Action::messages) == collective_count);

/// How a call was made. The first three are those of detail::Kind.
enum class Manner : std::uint8_t { blocking, nonblocking, persistent, in_stream };

enum class State : std::uint8_t { none, being_written, inside, over, failed };

/// A communicator: the number by which its messages are told apart, and one more of its rank 0, as numbers come again.
struct CommunicatorId {
  static constexpr int nonce_bits = 18;
  std::uint32_t value = 0;
  [[nodiscard]] static constexpr CommunicatorId of(int context, std::uint32_t nonce) {
    return {static_cast<std::uint32_t>(context) << nonce_bits | (nonce & ((1U << nonce_bits) - 1))};
  }
  [[nodiscard]] constexpr int context() const { return static_cast<int>(value >> nonce_bits); }
  friend constexpr bool operator==(CommunicatorId, CommunicatorId) = default;
};

/// A call as its rank made it, but for the time.
struct Call {
  Action action = Action::barrier;
  Manner manner = Manner::blocking;
  Type type = Type::uint8;
  Op::Kind op = Op::Kind::sum;
  bool is_uneven = false;         ///< Blocks are listed: `count` is this rank's alone.
  std::int64_t count = 0;         ///< Of elements; of messages, bytes.
  int root = 0;                   ///< Of messages, the peer of the first; -1: there is none.
  int rank = 0, ranks = 1;        ///< This process in the communicator, and its size.
  int algorithm = -1;             ///< Place in the registry (algorithms()); -1: none.
  int parameter = 0;              ///< Of the algorithm; of messages, their number. At most 65535.
  std::uint32_t fingerprint = 0;  ///< The same on all ranks whose calls match.
  CommunicatorId communicator{};
  std::uint32_t sequence = 0;  ///< The number of the operation on its communicator.
  /// How the program named the call and its elements: mpi_names.hpp. Does not tell calls apart.
  std::uint8_t mpi = 0;
  bool any_manner = false;  ///< Its communicator lets calls of all manners match.
  friend bool operator==(const Call&, const Call&) = default;
};

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
  int step = 0;  ///< Of the plan: so many steps are over, at least.
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
  Call call{};
  Wait wait{};
  /// In ns. Modulo 2^64: a damaged record may hold any time.
  [[nodiscard]] std::int64_t age(std::int64_t now) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(since));
  }
};

/// All but state, time and wait: five words, which an operation has ready.
using Packed = std::array<std::uint64_t, 5>;
[[nodiscard]] Packed pack(const Call& call);
[[nodiscard]] Call unpack(const Packed& words);
/// The words that change from call to call: sequence and manner.
inline constexpr std::size_t sequence_word = 1, manner_word = 2;
inline constexpr int manner_shift = 24;
/// The manner has two bits, and Call::mpi those behind it.
inline constexpr int manner_bits = 2, mpi_shift = manner_shift + manner_bits, mpi_bits = 6;

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
  /// Nothing if the place has been given to a later operation.
  void leave(std::uint64_t number, State state) {
    if (is_of(number))
      state_.store(number << state_bits | static_cast<std::uint64_t>(state), std::memory_order_relaxed);
  }
  void set_wait(std::uint64_t number, const Wait& wait) {
    if (is_of(number)) wait_.store(packed(wait), std::memory_order_relaxed);
  }

  /// Nothing if there is none, or it is being written.
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
