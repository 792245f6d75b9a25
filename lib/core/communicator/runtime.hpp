#pragma once
// The state that a process has once, from the first Communicator to MPI_Finalize. Never destroyed: a program may use
// MPI after main, in destructors of its static objects and in functions of atexit, in any order.

#include <mpi.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "lib/core/communicator/carrier.hpp"
#include "lib/core/communicator/making_turns.hpp"
#include "lib/core/memory/own_process.hpp"
#include "lib/core/run/progress.hpp"
#include "lib/core/run/progress_thread.hpp"
#include "lib/watch/faults.hpp"
#include "lib/watch/records/process_watch.hpp"
#include "lib/watch/records/recorder.hpp"
#include "lib/watch/tracing.hpp"

namespace tutti::detail {

class OtherRanks;

/// A communicator that this process has open.
class OpenCommunicator {
 public:
  OpenCommunicator() = default;
  OpenCommunicator(const OpenCommunicator&) = delete;
  OpenCommunicator& operator=(const OpenCommunicator&) = delete;
  virtual ~OpenCommunicator() = default;

  [[nodiscard]] virtual Rank rank() const = 0;
  /// The same on all ranks.
  [[nodiscard]] virtual records::CommunicatorId id() const = 0;
  [[nodiscard]] virtual mpi::Carrier& carrier() const = 0;
  [[nodiscard]] virtual const OtherRanks& others() const = 0;
  /// Operations that have to come to an end.
  [[nodiscard]] virtual int in_flight() const = 0;
  /// A message of another rank has come.
  virtual void take(const mpi::Letter& letter, const mpi::Mailbox::Rest& rest, int from) = 0;
  /// It cannot be used any more: other ranks are told, unless it was so before.
  virtual void fail(records::FailureKind kind, const std::string& why) = 0;
  /// Completes the operations in flight and gives the context back; if it has failed, drops them and keeps the context.
  /// Needs an Entry, or to be alone. `reason`: "was closed".
  virtual void close(const char* reason) noexcept = 0;
};

/// The carrier of a communicator's messages, and the number by which they are told apart there.
struct Admission {
  std::shared_ptr<mpi::Carrier> carrier;
  int context = 0;
  std::vector<int> ranks;  ///< On the carrier, by rank of the communicator.
};

/// A communicator whose turn it is to be made.
struct Candidate {
  MakingTurns::Turn turn{};  ///< Until it is made.
  bool is_in_world = false;  ///< The duplicate of MPI_COMM_WORLD has all of its ranks.
  std::vector<int> ranks{};  ///< On that duplicate.
};

class Runtime {
 public:
  /// Throws StateError before MPI_Init and after MPI_Finalize.
  static Runtime& get();
  /// From now on Tutti leaves it to the program which thread calls, whatever level below MPI_THREAD_MULTIPLE it asked
  /// MPI for. To be called before the first communicator is made.
  static void trust_threads() { trusts_threads = true; }

  /// Why this process cannot take part in communicators, by its own environment; empty: it can. All ranks of one that
  /// is to be made learn of it.
  [[nodiscard]] const std::string& objection() const { return objection_; }
  [[nodiscard]] Progress& progress() { return progress_; }
  [[nodiscard]] records::Recorder& recorder() { return recorder_; }
  [[nodiscard]] Tracing& tracing() { return tracing_; }
  /// From the first communicator on, as that of rank 0 was told by TUTTI_FAULTS.
  void make_faults(const std::string& text);
  /// nullptr: none are made.
  [[nodiscard]] Faults* faults() const { return faults_.get(); }
  /// Makes sure that a thread moves operations. Throws StateError unless MPI was initialised with MPI_THREAD_MULTIPLE.
  void require_progress_thread(const char* what_for);
  /// The same. Below MPI_THREAD_MULTIPLE it may reach shared memory only, and the caller holds no Entry.
  void start_progress_thread(Reach reach);
  /// Collective over `comm`. When it returns, all ranks are here, and wait for nobody else.
  [[nodiscard]] Candidate wait_for_turn(MPI_Comm comm, Progress::Entry& entry);
  /// Collective over `comm` unless there is a duplicate of MPI_COMM_WORLD, which then serves; it is made for the first
  /// communicator of all of its ranks. Before, others get a duplicate of `comm`. Throws ArgumentError, on all ranks, if
  /// all contexts are taken.
  [[nodiscard]] Admission admit(MPI_Comm comm, Candidate& candidate);

  /// Of the duplicate of MPI_COMM_WORLD; nullptr: its node shares no memory. Throws StateError if there is no
  /// duplicate.
  [[nodiscard]] std::shared_ptr<shm::NodeHeap> heap() const;

  /// Looks after a process of this node, from the first call on.
  [[nodiscard]] const records::ProcessWatch& process_watch(const records::Identity& identity);
  /// Takes and answers messages of other nodes.
  void serve_mailboxes();

  /// nullptr: this process has none of that name on the carrier.
  [[nodiscard]] OpenCommunicator* find_open(records::CommunicatorId id, const mpi::Carrier& carrier) const;

  /// MPI_Finalize begins with that, while all works still.
  void call_at_finalize(void (*function)() noexcept) { at_finalize_.push_back(function); }

  void opened(OpenCommunicator& communicator);
  void closed(OpenCommunicator& communicator) { std::erase(open_, &communicator); }
  /// MPI_Finalize has begun, MPI still works: closes all communicators.
  void finalize() noexcept;

 private:
  Runtime();
  /// Takes the settings that each process has of its own. Throws Error.
  void take_own_settings();
  /// The program ends: no thread of ours runs beside the destructors of its objects. Operations move while they are
  /// waited for.
  void end_thread() noexcept;
  [[nodiscard]] std::shared_ptr<mpi::Carrier> make_carrier(MPI_Comm comm);
  /// A message of another rank.
  struct Arrived {
    mpi::Letter letter;
    mpi::Mailbox::Rest rest;
    int from = 0;
  };
  static inline bool trusts_threads = false;
  OwnProcess process_;
  std::string objection_{};
  Progress progress_;
  records::Recorder recorder_;
  Tracing tracing_;
  std::unique_ptr<Faults> faults_;
  MakingTurns making_turns_;
  std::map<std::int32_t, records::ProcessWatch> process_watches_;
  std::unique_ptr<ProgressThread> thread_;  ///< If the user wants one.
  std::shared_ptr<mpi::Carrier> world_;
  std::vector<void (*)() noexcept> at_finalize_;
  std::vector<OpenCommunicator*> open_;
  std::vector<Arrived> early_;  ///< Arguments for communicators that this rank is still making.
};

}  // namespace tutti::detail
