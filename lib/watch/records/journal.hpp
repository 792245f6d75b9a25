#pragma once
// The part of the node's shared memory that belongs to one process: its records, its identity, and its failures.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/watch/records/record.hpp"

namespace tutti::records {

/// The process, for others that find its journal. Written once.
struct Identity {
  std::int32_t pid = 0;
  std::int32_t rank = 0, ranks = 0;  ///< In MPI_COMM_WORLD.
  std::int32_t unused = 0;
  std::uint64_t pid_namespace = 0;  ///< In which `pid` counts: the inode of /proc/self/ns/pid.
  std::uint64_t started = 0;        ///< Clock ticks since boot: tells it from a later process of that number.
  std::array<char, 64> host{}, program{};
};
/// The identity of this process.
[[nodiscard]] Identity own_identity(int rank, int ranks);
[[nodiscard]] std::uint64_t own_pid_namespace();

enum class FailureKind : std::uint8_t { error = 1, mismatch, death };

/// Why a process cannot use a communicator any more.
struct Failure {
  FailureKind kind = FailureKind::error;
  std::string why{};
};

/// Memory as it lies there, all zero at first.
class Journal {
 public:
  /// Bytes of the journals of so many processes, in whole pages.
  [[nodiscard]] static std::int64_t bytes_of(int processes);
  /// The journal of one process, in memory where journals lie one behind the other.
  [[nodiscard]] static Journal& at(std::byte* journals, int process);
  [[nodiscard]] static const Journal& at(const std::byte* journals, int process);

  /// The owner has written its identity.
  void open(const Identity& identity);
  [[nodiscard]] bool is_open() const { return is_open_.load(std::memory_order_acquire) != 0; }
  /// The identity, once the journal is open.
  [[nodiscard]] const Identity& identity() const { return identity_; }

  [[nodiscard]] Record& record(std::uint64_t number) { return records_[number % kept]; }
  [[nodiscard]] const Record& record(std::uint64_t number) const { return records_[number % kept]; }
  /// The operations that can be read now, the latest first, at most so many.
  [[nodiscard]] std::vector<Entry> latest(int most) const;
  /// At most so many operations for people to look at: first those that the process is inside, the oldest of them
  /// before all, as a later one may be over; then the others, the latest first.
  [[nodiscard]] std::vector<Entry> foremost(int most) const;

  /// Tells others of a failure; longer texts are cut. The oldest of several makes room.
  void fail(CommunicatorId communicator, FailureKind kind, std::string_view why);
  /// What it told of a communicator, if anything.
  [[nodiscard]] std::optional<Failure> failure_of(CommunicatorId communicator) const;
  /// The number of failures so far: most looks end here.
  [[nodiscard]] std::uint32_t failures() const { return failures_.load(std::memory_order_acquire); }

  /// It has reported that an operation hangs.
  void reported(const Signature& call) { reported_.store(name_of(call), std::memory_order_relaxed); }
  [[nodiscard]] bool has_reported(const Signature& call) const {
    return reported_.load(std::memory_order_relaxed) == name_of(call);
  }

 private:
  struct Note {
    std::atomic<std::uint32_t> communicator{0}, kind{0};  ///< 0: there is none.
    std::array<char, 1016> why{};
  };
  static constexpr std::size_t notes = 4;
  static std::uint64_t name_of(const Signature& call) {
    return static_cast<std::uint64_t>(call.communicator.value) << 32U | (call.sequence + 1U);
  }

  std::atomic<std::uint32_t> is_open_{0}, failures_{0};
  std::atomic<std::uint64_t> reported_{0};
  Identity identity_{};
  std::array<Note, notes> notes_{};
  std::array<Record, kept> records_{};
};

/// Where the journals of a node lie in the shared memory: at a fixed place, for programs that are no part of the job.
struct Directory {
  static constexpr std::int64_t offset = 2048;
  static constexpr std::uint64_t right_mark = 0x7475747469726564;  ///< Journals as this version writes them.
  std::atomic<std::uint64_t> mark{0};
  std::int64_t journals_at = 0;
  std::int32_t processes = 0, bytes_of_each = 0;
};

}  // namespace tutti::records
