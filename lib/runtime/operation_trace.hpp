#pragma once
// How operations are observed: by the trace of this process, and by NVTX.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/runtime/lanes.hpp"
#include "lib/runtime/members.hpp"
#include "lib/runtime/settings.hpp"
#include "lib/runtime/tracing.hpp"
#include "lib/trace/format.hpp"
#include "lib/trace/steps.hpp"

namespace tutti::detail {

class CachedPlan;
class OperationTrace;

/// A communicator whose operations are observed.
class CommunicatorTrace {
 public:
  /// nullptr: they are not. `comm`: the ranks of the communicator. The other arguments have to outlive it.
  [[nodiscard]] static std::unique_ptr<CommunicatorTrace> make(Tracing& tracing, const Settings& settings,
                                                               const Members& members, int context, MPI_Comm comm);
  [[nodiscard]] std::unique_ptr<OperationTrace> operation(const CachedPlan& plan);

 private:
  friend class OperationTrace;
  CommunicatorTrace(trace::Writer* writer, RangeUse ranges, int size)
      : writer_(writer), ranges_(ranges), pairs_(static_cast<std::size_t>(size)) {}

  trace::Writer* writer_;  ///< nullptr: no trace.
  RangeUse ranges_;
  std::vector<trace::PairCounts> pairs_;  ///< By rank.
  std::uint32_t number_ = 0;
  std::uint64_t programs_ = 0;  ///< Calls in streams that no host moved.
};

/// Of one operation, run after run.
class OperationTrace {
 public:
  OperationTrace(CommunicatorTrace& communicator, const CachedPlan& plan);

  /// The program has called. Kind and sequence: of the operation. `gated`: in the order of a stream.
  void enter(Kind kind, std::uint64_t sequence, bool gated);
  /// The same for a call in a stream that no host moves; it is over when it has been put there.
  void enter_program();
  /// Its turn has come; the next one, if it has exchanged sizes.
  void take_turn(std::uint64_t sequence);
  void leave(bool has_failed);
  /// Whether the program does nothing but wait for it.
  void wait(bool waits) { call_.is_waited_for = waits; }

  /// For its runs; nullptr: their steps are not recorded.
  [[nodiscard]] trace::Call* call() { return call_.writer == nullptr ? nullptr : &call_; }

 private:
  void begin(trace::Start start, std::uint64_t sequence);

  CommunicatorTrace& communicator_;
  trace::Call call_;
  trace::BeginRecord begun_;  ///< Of the latest run.
  std::int64_t turn_ = 0;     ///< When its turn came.
  std::string label_;         ///< Of its range.
  std::uint64_t range_ = 0;
};

/// While the program waits for an operation. `trace`: nullptr if that is not observed.
class WaitTrace {
 public:
  explicit WaitTrace(OperationTrace* trace) : trace_(trace) {
    if (trace_ != nullptr) trace_->wait(true);
  }
  WaitTrace(const WaitTrace&) = delete;
  WaitTrace& operator=(const WaitTrace&) = delete;
  ~WaitTrace() {
    if (trace_ != nullptr) trace_->wait(false);
  }

 private:
  OperationTrace* trace_;
};

/// While a call is put into a stream. `communicator`: nullptr if that is not observed.
class ProgramTrace {
 public:
  ProgramTrace(CommunicatorTrace* communicator, const CachedPlan& plan);
  ProgramTrace(const ProgramTrace&) = delete;
  ProgramTrace& operator=(const ProgramTrace&) = delete;
  ~ProgramTrace();

 private:
  std::unique_ptr<OperationTrace> trace_;
  int exceptions_;
};

}  // namespace tutti::detail
