#pragma once
// Ends a run that hangs, and says where.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tutti::soak {

/// The work of a thread at the moment, for the watchdog.
struct Position {
  enum class Phase : std::uint8_t { between_rounds, preparing, starting, waiting, comparing, finished };
  std::atomic<std::int64_t> call{0};  ///< Its number.
  std::atomic<Phase> phase{Phase::between_rounds};
  /// A number that stays the same as long as nothing moves.
  [[nodiscard]] std::int64_t changes() const { return changes_.load(); }
  void enter(Phase now, std::int64_t at_call) {
    call = at_call;
    phase = now;
    ++changes_;
  }
  void enter(Phase now) { enter(now, call.load()); }
  [[nodiscard]] std::string text() const;

 private:
  std::atomic<std::int64_t> changes_{0};
};

/// A thread that looks at the positions once a second. If one has not changed for `seconds`, unless it is finished, it
/// calls `report` on this rank, waits until the watchdogs of other ranks have seen the same, and ends the process.
class Watchdog {
 public:
  Watchdog(const std::vector<Position>& positions, int seconds, std::function<void()> report);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  [[nodiscard]] bool is_stuck();

  const std::vector<Position>& positions_;
  const int seconds_;
  const std::function<void()> report_;
  std::vector<std::int64_t> seen_;
  std::vector<int> idle_;  ///< Seconds without a change, of each.
  bool stops_ = false;
  std::mutex mutex_;
  std::condition_variable stop_;
  std::thread thread_;
};

}  // namespace tutti::soak
