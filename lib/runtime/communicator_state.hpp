#pragma once
// The state behind a Communicator.

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/memory/own_process.hpp"
#include "lib/runtime/carrier.hpp"
#include "lib/runtime/counters.hpp"
#include "lib/runtime/lanes.hpp"
#include "lib/runtime/plan_cache.hpp"
#include "lib/runtime/progress.hpp"
#include "lib/runtime/recent_calls.hpp"
#include "lib/runtime/settings.hpp"
#include "lib/transport/mux.hpp"
#include "tutti/call.hpp"
#include "tutti/communicator.hpp"
#include "tutti/error.hpp"
#include "tutti/patterns.hpp"

namespace tutti::detail {

class Runtime;
struct Admission;

/// Outlives its Communicator while requests or plans refer to it.
class CommunicatorState {
 public:
  /// Collective over `comm`.
  CommunicatorState(Runtime& runtime, MPI_Comm comm, const CommunicatorOptions& options);
  CommunicatorState(const CommunicatorState&) = delete;
  CommunicatorState& operator=(const CommunicatorState&) = delete;
  ~CommunicatorState() { close("was closed"); }

  [[nodiscard]] Rank rank() const { return rank_; }
  [[nodiscard]] int size() const { return static_cast<int>(carrier_ranks_.size()); }
  [[nodiscard]] int node_count() const { return leaders_.size(); }
  [[nodiscard]] int node_of(Rank rank) const { return nodes_[static_cast<std::size_t>(rank.value())]; }
  /// The node of each rank, as in Problem.
  [[nodiscard]] std::span<const int> nodes() const {
    return node_count() > 1 ? std::span<const int>{nodes_} : std::span<const int>{};
  }
  /// The socket of each rank, as in Problem.
  [[nodiscard]] std::span<const int> sockets() const {
    return socket_count_ > node_count() ? std::span<const int>{sockets_} : std::span<const int>{};
  }
  [[nodiscard]] const Group& node() const { return node_; }
  [[nodiscard]] const Group& leaders() const { return leaders_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] bool is_crowded() const { return is_crowded_; }
  [[nodiscard]] bool mpi_yields() const { return mpi_yields_; }
  /// Whether this node runs two ranks or more for each processor.
  [[nodiscard]] bool shares_processors() const { return shares_processors_; }
  [[nodiscard]] Progress& progress() const { return progress_; }
  [[nodiscard]] Route route();
  [[nodiscard]] shm::SharedMemory shared_memory() const;
  /// Whether all messages go through shared memory: the same on all ranks.
  [[nodiscard]] bool shares_memory() const { return shares_memory_; }
  /// How messages travel that shared memory does not carry.
  [[nodiscard]] Transport far_transport() const { return network_ == nullptr ? Transport::mpi : Transport::network; }
  /// Of collectives.
  [[nodiscard]] Routing routing() const {
    return {.window = std::min(tags_.messages(), Routing::most_window), .far = far_transport()};
  }
  [[nodiscard]] const CommunicatorCounters& counters() const { return counters_; }

  /// The plan for this key; compiled if need be, after `validate()`.
  template <class Validate>
  CachedPlan& plan(const PlanKey& key, const Validate& validate) {
    return plans_.find_or(key, [&] {
      validate();
      forget_recent();
      return std::make_unique<CachedPlan>(key, routing(), shared_memory());
    });
  }
  /// The plan of messages that are part of no collective; `compiled()` gives it if it is not there.
  template <class Compile>
  CachedPlan& plan_of_messages(const PlanKey& key, const Compile& compiled) {
    return plans_.find_or(key, [&] {
      forget_recent();
      return std::make_unique<CachedPlan>(key, compiled());
    });
  }
  [[nodiscard]] RecentCalls<RecentCall>& recent_calls() { return recent_calls_; }
  [[nodiscard]] RecentCalls<RecentMessages>& recent_messages() { return recent_messages_; }
  [[nodiscard]] std::size_t cached_plans() const { return plans_.size(); }

  // The turns of operations: one may run when the one a fixed number of turns before it is over, by which tags are told
  // apart. An operation has one turn, two if it exchanges sizes first, none if it is no collective.
  /// Its first turn.
  std::uint64_t begin_operation(int turns) {
    ++in_flight_;
    const std::uint64_t first = sequence_;
    sequence_ += static_cast<std::uint64_t>(turns);
    return first;
  }
  [[nodiscard]] Lanes& lanes() { return lanes_; }
  /// Whether operations have to wait for their lane: there is shared memory.
  [[nodiscard]] bool has_lanes() const { return links_ != nullptr; }
  // Where no message has a tag, as all share memory, lanes alone tell operations apart.
  [[nodiscard]] bool is_turn_of(std::uint64_t sequence) const {
    return shares_memory_ || turns_[slot(sequence)] == sequence;
  }
  void end_turn(std::uint64_t sequence) {
    if (!shares_memory_) turns_[slot(sequence)] = sequence + turns_.size();
  }
  void end_operation() { --in_flight_; }
  /// The number that begin_operation() gives next.
  [[nodiscard]] std::uint64_t next_sequence() const { return sequence_; }
  /// A blocking call that had this number, if it takes a turn, is over; nothing else was under way.
  void end_fast_call(bool takes_turn) {
    ++counters_.fast_path_calls;
    if (!takes_turn) return;
    end_turn(sequence_++);
    lanes_.enter_and_leave();
  }
  [[nodiscard]] int tag(std::uint64_t sequence) const { return tags_.base(context_, sequence); }
  [[nodiscard]] int pairwise_tag() const { return tags_.pairwise(context_); }

  /// Throws StateError unless open.
  void require_open() const {
    if (!is_open()) throw_closed();
  }
  /// Throws Error once an operation has failed: its peers are not where they should be.
  void require_working() const {
    if (!failure_.empty()) throw_failed();
  }
  void poison(const std::string& why);
  /// Completes the operations in flight and gives the context back; if the communicator is poisoned, drops them and
  /// keeps the context. Needs an Entry, or to be alone. `reason`: "was closed".
  void close(const char* reason) noexcept;
  [[nodiscard]] bool is_open() const { return carrier_ != nullptr; }
  /// False in a child of a fork, which must leave alone the resources that it shares with its parent.
  [[nodiscard]] bool is_of_this_process() const { return process_.is_this(); }
  [[nodiscard]] int in_flight() const { return in_flight_; }

 private:
  [[noreturn]] void throw_closed() const;
  [[noreturn]] void throw_failed() const;
  /// A new plan may take the place of theirs.
  void forget_recent() {
    recent_calls_.forget();
    recent_messages_.forget();
  }
  [[nodiscard]] std::size_t slot(std::uint64_t sequence) const { return sequence % turns_.size(); }
  CommunicatorState(Runtime& runtime, MPI_Comm comm, Settings settings, Admission admission);
  void find_nodes();
  void find_links(MPI_Comm comm);
  std::string map_links() noexcept;
  void join_network(MPI_Comm comm);
  [[nodiscard]] std::string open_network(std::string_view name) noexcept;

  Runtime& runtime_;
  Progress& progress_;
  Settings settings_;
  std::shared_ptr<mpi::Carrier> carrier_;  ///< Null: closed.
  mpi::TagLayout tags_{};
  int context_ = 0;
  bool is_crowded_ = false, shares_processors_ = false, mpi_yields_ = false;
  Rank rank_;
  std::vector<int> carrier_ranks_;
  std::vector<int> nodes_, sockets_;
  int socket_count_ = 0;
  Group node_, leaders_;
  shm::Links* links_ = nullptr;         ///< nullptr: no rank is reached through shared memory.
  std::vector<int> locals_;             ///< By rank: its number in the links; -1: not there.
  std::vector<std::uint8_t> is_local_;  ///< By rank: whether its messages go through shared memory.
  bool shares_memory_ = false;
  mpi::Network* network_ = nullptr;  ///< nullptr: MPI carries the messages that shared memory does not.
  CommunicatorCounters counters_;
  std::uint64_t sequence_ = 0;
  int in_flight_ = 0;
  Lanes lanes_;
  std::vector<std::uint64_t> turns_;  ///< Per slot, as many as tags have: the sequence number that may run.
  std::string failure_;               ///< Not empty: poisoned.
  const char* closed_because_ = "";
  PlanCache plans_;
  RecentCalls<RecentCall> recent_calls_;
  RecentCalls<RecentMessages> recent_messages_;
  OwnProcess process_;
};

}  // namespace tutti::detail
