#pragma once
// The state behind a Communicator.

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/memory/own_process.hpp"
#include "lib/records/recorder.hpp"
#include "lib/runtime/argument_check.hpp"
#include "lib/runtime/carrier.hpp"
#include "lib/runtime/counters.hpp"
#include "lib/runtime/matching.hpp"
#include "lib/runtime/members.hpp"
#include "lib/runtime/operation_order.hpp"
#include "lib/runtime/operation_trace.hpp"
#include "lib/runtime/paths.hpp"
#include "lib/runtime/plans.hpp"
#include "lib/runtime/progress.hpp"
#include "lib/runtime/settings.hpp"
#include "lib/runtime/streams.hpp"
#include "lib/runtime/watch.hpp"
#include "lib/transport/device/block_pool.hpp"
#include "tutti/communicator.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

class Runtime;
struct Admission;
struct Candidate;

/// How ranks of a node share its processors.
struct Waiting {
  bool is_crowded = false;             ///< A waiting rank has to give its processor away: mpi::Carrier.
  bool outnumbers_processors = false;  ///< This node runs more ranks than it has processors, as all of them know.
  bool shares_processors = false;      ///< This node runs two ranks or more for each processor.
  bool mpi_yields = false;             ///< MPI gives the processor away by itself.
};

/// Outlives its Communicator while requests or plans refer to it.
class CommunicatorState {
 public:
  /// Collective over `comm`. Other threads may enter the library while ranks are not there yet.
  CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Progress::Entry& entry);
  ~CommunicatorState() { close("was closed"); }

  [[nodiscard]] Rank rank() const { return members_.me(); }
  /// The same on all ranks.
  [[nodiscard]] records::CommunicatorId id() const { return id_; }
  [[nodiscard]] records::Recorder& recorder() const { return recorder_; }
  [[nodiscard]] const Members& members() const { return members_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  /// For measurements: plans that are made from now on have these thresholds, which are the same on all ranks.
  void tune(const device::Tuning& tuning) { settings_.device_tuning = tuning; }
  [[nodiscard]] const Waiting& waiting() const { return waiting_; }
  [[nodiscard]] const Paths& paths() const { return paths_; }
  [[nodiscard]] Route route();
  [[nodiscard]] OperationOrder& order() { return order_; }
  [[nodiscard]] Plans& plans() { return plans_; }
  [[nodiscard]] CommunicatorCounters& counters() { return counters_; }
  /// Of operations on device buffers.
  [[nodiscard]] device::BlockPool& staging_memory() { return staging_memory_; }
  [[nodiscard]] Progress& progress() const { return progress_; }
  [[nodiscard]] Runtime& runtime() const { return runtime_; }
  /// While it is open.
  [[nodiscard]] mpi::Carrier& carrier() const { return *carrier_; }
  [[nodiscard]] Watch& watch() { return watch_; }
  [[nodiscard]] ArgumentCheck& argument_check() { return argument_check_; }
  [[nodiscard]] const Watch& watch() const { return watch_; }
  /// For calls in the order of streams.
  [[nodiscard]] Streams& streams() { return streams_; }
  /// Of messages with tags; nullptr: there have been none.
  [[nodiscard]] Matching* matching() const { return matching_.get(); }
  void match_by(std::unique_ptr<Matching> matching);
  /// Operations that have to come to an end.
  [[nodiscard]] int in_flight() const;
  /// nullptr: its operations are not observed.
  [[nodiscard]] CommunicatorTrace* trace() const { return trace_.get(); }
  /// Why it cannot be used any more; empty: it works. Looks at streams, too.
  [[nodiscard]] const std::string& status() noexcept;

  /// Throws StateError unless open.
  void require_open() const {
    if (!is_open()) throw_unusable();
  }
  /// Throws Error once an operation has failed: its peers are not where they should be.
  void require_working() const {
    if (!failure_.empty()) throw_unusable();
  }
  /// False: it was poisoned before.
  bool poison(std::string why);
  /// Completes the operations in flight and gives the context back; if the communicator is poisoned, drops them and
  /// keeps the context. Needs an Entry, or to be alone. `reason`: "was closed".
  void close(const char* reason) noexcept;
  /// Ends its operations under way at once, with an error, and closes it. Needs an Entry.
  void abort(const std::string& why);
  [[nodiscard]] bool is_open() const { return carrier_ != nullptr; }
  /// False in a child of a fork, which must leave alone the resources that it shares with its parent.
  [[nodiscard]] bool is_of_this_process() const { return process_.is_this(); }

 private:
  CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options, Candidate candidate);
  CommunicatorState(Runtime& runtime, MPI_Comm comm, Settings settings, Admission admission);
  [[noreturn]] void throw_unusable() const;
  void record_closing();
  void give_context_back();

  Runtime& runtime_;
  Progress& progress_;
  records::Recorder& recorder_;
  Settings settings_;
  std::shared_ptr<mpi::Carrier> carrier_;  ///< Null: closed.
  int context_ = 0;
  records::CommunicatorId id_;
  Waiting waiting_;
  Members members_;
  Paths paths_;
  OperationOrder order_;
  CommunicatorCounters counters_;
  std::vector<PairwiseSends> pairwise_sends_;  ///< By line and rank.
  Streams streams_;
  device::BlockPool staging_memory_{{.allocate = ipc::allocate_on, .free = ipc::free_on}};
  std::unique_ptr<CommunicatorTrace> trace_;
  Plans plans_;
  Watch watch_{*this};
  ArgumentCheck argument_check_{*this};
  std::unique_ptr<Matching> matching_{};
  std::string failure_;  ///< Not empty: poisoned.
  std::string closed_because_{};
  OwnProcess process_;
};

}  // namespace tutti::detail
