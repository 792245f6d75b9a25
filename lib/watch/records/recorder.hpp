#pragma once
// Writes the records of this process.

#include <ctime>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/watch/records/journal.hpp"

namespace tutti::records {

/// CLOCK_MONOTONIC in ns, to a few milliseconds: a fifth of the price of the exact one.
[[nodiscard]] inline std::int64_t coarse_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// One a process. It writes to a journal in shared memory, once there is one; to each of them, where communicators of
/// the process travel on several carriers, whose ranks see different journals. Not thread-safe.
class Recorder {
 public:
  Recorder() : own_(std::make_unique<Journal>()), first_(own_.get()) {}

  /// Records from now on also into this journal, which lives as long as `memory`.
  void attach(Journal& journal, std::shared_ptr<const void> memory);

  /// An operation begins. Returns its number.
  std::uint64_t enter(const Packed& call, std::uint64_t sequence, Manner manner) {
    const std::uint64_t number = ++latest_;
    const std::int64_t now = coarse_now();
    first_->record(number).enter(number, now, call, sequence, manner);
    for (const Attached& other : others_)
      other.journal->record(number).enter(number, now, call, sequence, manner);
    return number;
  }
  void leave(std::uint64_t number, State state) {
    first_->record(number).leave(number, state);
    for (const Attached& other : others_)
      other.journal->record(number).leave(number, state);
  }
  void set_wait(std::uint64_t number, const Wait& wait) {
    first_->record(number).set_wait(number, wait);
    for (const Attached& other : others_)
      other.journal->record(number).set_wait(number, wait);
  }
  /// Other ranks learn that this one cannot use a communicator any more.
  void fail(CommunicatorId communicator, FailureKind kind, std::string_view why);
  /// Other ranks learn that this one has reported a hang.
  void reported(const Signature& call);

  /// The journal, for this process's own reports.
  [[nodiscard]] const Journal& journal() const { return *first_; }

 private:
  struct Attached {
    Journal* journal = nullptr;
    std::shared_ptr<const void> memory{};
  };
  std::unique_ptr<Journal> own_;  ///< Until there is a shared one.
  Journal* first_;
  std::shared_ptr<const void> memory_of_first_{};
  std::vector<Attached> others_{};
  std::uint64_t latest_ = 0;
};

}  // namespace tutti::records
