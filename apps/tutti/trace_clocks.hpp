#pragma once
// The clocks of the ranks of a job, as one.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "apps/tutti/trace_file.hpp"

namespace tutti::tool {

/// The clock of one rank, as that of another: the difference changes linearly between two times.
class ClockLine {
 public:
  ClockLine() = default;
  /// Makes the line from measurements, at least one.
  explicit ClockLine(const std::vector<trace::ClockRecord>& measured);
  [[nodiscard]] std::int64_t at(std::int64_t time) const;

 private:
  ClockLine(const trace::ClockRecord& first, const trace::ClockRecord& last);
  std::int64_t since_ = 0, offset_ = 0;
  double drift_ = 0;  ///< Nanoseconds a nanosecond.
};

/// The lines that lead from each clock to that of one rank, the root, with which most clocks were compared. A clock
/// that was compared with another one than the root's is led there by that one's line. A clock is named by the rank
/// that compared it.
class ClockAlignment {
 public:
  /// The traces have to outlive it.
  explicit ClockAlignment(const std::vector<TraceFile>& files);

  /// The line of a file's clock. Nothing: it was compared with none that leads to the root.
  [[nodiscard]] std::optional<ClockLine> of(const TraceFile& file) const;
  /// How much a line may be wrong, at the times at which it was measured; nanoseconds.
  [[nodiscard]] std::int64_t uncertainty() const { return uncertainty_; }
  [[nodiscard]] int clocks() const { return static_cast<int>(lines_.size()); }

 private:
  [[nodiscard]] std::vector<trace::ClockRecord> measured_of(int clock) const;
  [[nodiscard]] std::vector<trace::ClockRecord> copied_of(int clock) const;
  bool add_one();

  const std::vector<TraceFile>& files_;
  int root_;
  std::map<int, int> clock_of_rank_{};
  std::map<int, ClockLine> lines_{};
  std::int64_t uncertainty_ = 0;
};

}  // namespace tutti::tool
