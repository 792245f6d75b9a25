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
#include "lib/watch/bits_watch.hpp"
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
  /// The communicator's number, the same on all ranks.
  [[nodiscard]] virtual records::CommunicatorId id() const = 0;
  [[nodiscard]] virtual mpi::Carrier& carrier() const = 0;
  [[nodiscard]] virtual const OtherRanks& others() const = 0;
  /// Operations that have to come to an end.
  [[nodiscard]] virtual int in_flight() const = 0;
  /// Takes a letter that has come from rank `from`.
  virtual void take(const mpi::Letter& letter, const mpi::Mailbox::Rest& rest, int from) = 0;
  /// Poisons the communicator and tells other ranks, unless it was poisoned before.
  virtual void fail(records::FailureKind kind, const std::string& why) = 0;
  /// Completes the operations in flight and gives the context back; after a failure, drops them and keeps the context.
  /// Needs an Entry, or to be alone. `reason`: "was closed".
  virtual void close(const char* reason) noexcept = 0;
};

/// The carrier of a communicator's messages, and the number by which they are told apart there.
struct Admission {
  std::shared_ptr<mpi::Carrier> carrier;
  int context = 0;
  std::vector<int> ranks;  ///< The rank on the carrier of each rank of the communicator.
};

/// A communicator whose turn it is to be made.
struct Candidate {
  MakingTurns::Turn turn{};  ///< Held until it is made.
  bool is_in_world = false;  ///< The duplicate of MPI_COMM_WORLD has all of its ranks.
  std::vector<int> ranks{};  ///< The rank on that duplicate of each rank.
};

class Runtime {
 public:
  /// Throws StateError before MPI_Init and after MPI_Finalize.
  static Runtime& get();
  /// From now on the program decides which thread calls Tutti, whatever level below MPI_THREAD_MULTIPLE it asked MPI
  /// for. To be called before the first communicator is made.
  static void trust_threads() { trusts_threads = true; }

  /// What in its own environment keeps this process from communicators; empty: nothing. All ranks of a communicator
  /// that is to be made learn of it.
  [[nodiscard]] const std::string& objection() const { return objection_; }
  [[nodiscard]] Progress& progress() { return progress_; }
  [[nodiscard]] records::Recorder& recorder() { return recorder_; }
  [[nodiscard]] Tracing& tracing() { return tracing_; }
  [[nodiscard]] BitsWatch& bits() { return bits_; }
  /// Makes faults from now on, as `text` says, the TUTTI_FAULTS of rank 0. The first text that is not empty counts.
  void make_faults(const std::string& text);
  /// The faults that are made; nullptr: none.
  [[nodiscard]] Faults* faults() const { return faults_.get(); }
  /// Makes sure that a thread moves operations. Throws StateError unless MPI was initialised with MPI_THREAD_MULTIPLE.
  void require_progress_thread(const char* what_for);
  /// Starts that thread unless there is one. Below MPI_THREAD_MULTIPLE it may reach shared memory only, and the caller
  /// holds no Entry.
  void start_progress_thread(Reach reach);
  /// Waits for the turn to make a communicator of the ranks of `comm`; collective over `comm`. When it returns, all
  /// ranks are here, and wait for nobody else.
  [[nodiscard]] Candidate wait_for_turn(MPI_Comm comm, Progress::Entry& entry);
  /// Gives a candidate its carrier and its context. The carrier is the duplicate of MPI_COMM_WORLD, which is made for
  /// the first communicator of all of its ranks; until then, other communicators get a duplicate of `comm`. Collective
  /// over `comm` where a duplicate is made. Throws ArgumentError, on all ranks, if all contexts are taken.
  [[nodiscard]] Admission admit(MPI_Comm comm, Candidate& candidate);

  /// The heap of the duplicate of MPI_COMM_WORLD; nullptr: its node shares no memory. Throws StateError if there is no
  /// duplicate.
  [[nodiscard]] std::shared_ptr<shm::NodeHeap> heap() const;

  /// The watch over a process of this node, which begins with the first call.
  [[nodiscard]] const records::ProcessWatch& process_watch(const records::Identity& identity);
  /// Takes and answers letters of other nodes.
  void serve_mailboxes();

  /// The open communicator of that number on the carrier; nullptr: this process has none.
  [[nodiscard]] OpenCommunicator* find_open(records::CommunicatorId id, const mpi::Carrier& carrier) const;

  /// MPI_Finalize calls `function` first, while everything still works.
  void call_at_finalize(void (*function)() noexcept) { at_finalize_.push_back(function); }

  void opened(OpenCommunicator& communicator);
  void closed(OpenCommunicator& communicator) { std::erase(open_, &communicator); }
  /// Closes all communicators: MPI_Finalize has begun, and MPI still works.
  void finalize() noexcept;

 private:
  Runtime();
  /// Takes the settings that each process has of its own. Throws Error.
  void take_own_settings();
  /// Ends the thread with the program, so that it does not run beside the destructors of static objects. Operations
  /// then move while they are waited for.
  void end_thread() noexcept;
  void end_at_exit() noexcept;
  [[nodiscard]] std::shared_ptr<mpi::Carrier> make_carrier(MPI_Comm comm);
  /// A letter of another rank.
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
  BitsWatch bits_;
  Tracing tracing_;
  std::unique_ptr<Faults> faults_;
  MakingTurns making_turns_;
  std::map<std::int32_t, records::ProcessWatch> process_watches_;
  std::unique_ptr<ProgressThread> thread_;  ///< nullptr: there is none.
  std::shared_ptr<mpi::Carrier> world_;
  std::vector<void (*)() noexcept> at_finalize_;
  std::vector<OpenCommunicator*> open_;
  std::vector<Arrived> early_;  ///< Letters with arguments for communicators that this rank is still making.
};

/// Writes what was recorded and traced so far: the process is about to be ended. Needs an Entry, or to be alone.
void flush_records(Runtime& runtime) noexcept;

}  // namespace tutti::detail
