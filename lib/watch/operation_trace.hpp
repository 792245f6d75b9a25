#pragma once
// Operations in the trace of this process, and as ranges of NVTX.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/communicator/membership.hpp"
#include "lib/core/run/prepared_plan.hpp"
#include "lib/watch/observer.hpp"
#include "lib/watch/trace/format.hpp"
#include "lib/watch/trace/steps.hpp"

namespace tutti::detail {

/// A communicator whose operations are traced, or told to NVTX.
class CommunicatorTrace {
 public:
  /// nullptr: they are not. `comm`: the ranks of the communicator. The trace of the process has to outlive it.
  [[nodiscard]] static std::unique_ptr<CommunicatorTrace> make(const Membership& communicator, MPI_Comm comm);
  [[nodiscard]] bool has_writer() const { return writer_ != nullptr; }
  [[nodiscard]] bool has_ranges() const { return ranges_ == RangeUse::on; }

 private:
  friend class TracedCall;
  CommunicatorTrace(trace::Writer* writer, RangeUse ranges, int size)
      : writer_(writer), ranges_(ranges), pairs_(static_cast<std::size_t>(size)) {}

  trace::Writer* writer_;  ///< nullptr: no trace.
  RangeUse ranges_;
  std::vector<trace::PairCounts> pairs_;  ///< One for each rank.
  std::uint32_t number_ = 0;
  std::uint64_t programs_ = 0;  ///< Calls in streams that no host moved.
};

/// Writes the runs of one operation to the trace.
class TracedCall final : public Observer {
 public:
  /// The communicator has to have a writer. `is_waited_for`: whether the program does nothing but wait for it.
  TracedCall(CommunicatorTrace& communicator, const PreparedPlan& plan, const bool& is_waited_for);

  /// What the records of its steps refer to.
  [[nodiscard]] trace::Subject& subject() { return subject_; }
  void entered(const Entrance& run) override;
  void started(std::uint64_t sequence) override;
  void left() override { end(false); }
  void failed() override { end(true); }

 private:
  void end(bool has_failed);

  CommunicatorTrace& communicator_;
  trace::Subject subject_;
  trace::BeginRecord begun_;  ///< The record of the latest run.
  std::int64_t turn_ = 0;     ///< When its turn came.
};

/// Shows the runs of one operation to NVTX as ranges.
class RangeOfCall final : public Observer {
 public:
  explicit RangeOfCall(const PreparedPlan& plan);

  void entered(const Entrance& run) override;
  void left() override;
  void failed() override { left(); }

 private:
  std::int64_t bytes_;
  std::string label_;
  std::uint64_t range_ = 0;
};

}  // namespace tutti::detail
