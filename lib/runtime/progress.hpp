#pragma once
// Moves the operations of this process forward.

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/reduce/user_function.hpp"

namespace tutti::detail {

class CommunicatorState;
class Matching;
class Operation;
class ProgressThread;

/// Moves MPI, and every network that is open. They may carry messages of this process that no operation waits for any
/// more, or that are the program's own: a peer may wait for them. Every wait calls it now and then, no matter which
/// transport the operation that is waited for uses, as only operations that are under way poll their own. `polls_mpi`:
/// MPI is moved anyway.
void move_transports(bool polls_mpi);

/// Which operations a thread may move.
enum class Reach : std::uint8_t {
  all,
  shared_memory,  ///< Those whose messages all go through shared memory, so that MPI is not called.
};

/// All operations under way in this process, and the lock that protects the library where threads may meet.
class Progress {
 public:
  /// `thread_level` is the level that MPI provides.
  explicit Progress(int thread_level);

  /// Every entry into the library holds one: checks that MPI allows this thread, and keeps others out if there may be
  /// any. Throws StateError if MPI's thread level forbids the call, and inside a user's operation.
  class Entry {
   public:
    explicit Entry(Progress& progress) : progress_(progress) {
      UserFunctionRun::require_outside();  // first, as that function's operation holds the lock
      if (progress.main_thread_only_ && std::this_thread::get_id() != progress.main_thread_) throw_wrong_thread();
      if (progress.many_threads_) lock_ = progress.locked();
    }
    /// Lets other threads in for a moment.
    void pause();

   private:
    [[noreturn]] static void throw_wrong_thread();
    Progress& progress_;
    std::unique_lock<std::mutex> lock_;
  };

  /// Is told of operations that nobody may wait for, as they begin; nullptr: nobody. From the first thread on, entries
  /// keep others out. The caller holds no Entry, unless there were many threads before.
  void serve(ProgressThread* thread) {
    thread_ = thread;
    many_threads_ |= thread != nullptr;
  }
  void wake_thread();
  [[nodiscard]] bool has_many_threads() const { return many_threads_; }
  [[nodiscard]] bool has_operations() const { return first_ != nullptr; }
  [[nodiscard]] bool has_one_operation() const { return first_ == last_; }
  /// Whether another thread waits for an Entry.
  [[nodiscard]] bool has_waiting_threads() const { return waiting_threads_.load(std::memory_order_relaxed) > 0; }

  void add(Operation& operation);
  void remove(Operation& operation);
  /// Messages with tags, which follow from those of operations.
  void add(Matching& matching) { matchings_.push_back(&matching); }
  void remove(Matching& matching) { std::erase(matchings_, &matching); }
  /// Before another operation begins: the one that is on the fast path gets its place in all queues, as messages
  /// between two ranks keep their order.
  void end_fast_path();
  /// Moves every operation forward once.
  void advance_all();
  /// On a thread of the library's: the same for those that no blocking call waits for. A blocking call moves its own,
  /// and runs its user's functions.
  void advance_in_background(Reach reach);
  /// Returns once `operation` is over, moving all the others too.
  void wait(Operation& operation, Entry& entry);
  /// The same, but at `end` at the latest, on records::coarse_now(). Whether the operation is over.
  bool wait_until(Operation& operation, Entry& entry, std::int64_t end);
  /// Returns once a request of the MPI's own is over, moving all operations. Now and then calls `look()`. Throws
  /// MpiError.
  void wait(MPI_Request& request, Entry& entry, const std::function<void()>& look);
  /// The same until operations are over, one look at a time: `looks` were made before.
  void look_at_all(int looks);
  /// Those of a communicator that has failed end with its error.
  void end_all_of(const CommunicatorState& communicator);
  /// Call after a test of an operation: a program that only tests moves MPI forward too.
  void tested(Operation& operation);

 private:
  std::unique_lock<std::mutex> locked();
  /// One look at an operation that is waited for: true if it is over.
  bool look_at(Operation& operation, int looks);
  void check_all();
  void advance_matchings();

  Operation* first_ = nullptr;
  Operation* last_ = nullptr;
  std::vector<Matching*> matchings_{};
  unsigned tests_ = 0;
  ProgressThread* thread_ = nullptr;
  bool many_threads_, main_thread_only_;
  std::thread::id main_thread_;
  std::mutex mutex_;
  std::atomic<int> waiting_threads_{0};
};

}  // namespace tutti::detail
