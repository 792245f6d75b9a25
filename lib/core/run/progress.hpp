#pragma once
// Moves the operations of this process forward.

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "lib/core/reduce/user_function.hpp"

namespace tutti::detail {

class Matching;

/// Moves MPI, and every network that is open. They may carry messages of this process that no operation waits for any
/// more, or that are the program's own: a peer may wait for them. Every wait calls it now and then, no matter which
/// transport the operation that is waited for uses, as only operations that are under way poll their own. `polls_mpi`:
/// MPI is moved anyway.
void move_transports(bool polls_mpi);

/// Which operations a thread may move.
enum class Reach : std::uint8_t {
  all,
  shared_memory,  ///< Operations whose messages all go through shared memory, so that MPI is not called.
};

/// An operation, as whoever moves it sees it. All members need an Entry.
class Task {
 public:
  Task() = default;
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  virtual ~Task() = default;

  /// Makes all progress that is possible now; never blocks.
  virtual void advance() = 0;
  /// To be called now and then while it is waited for: looks for signs that it will never be over.
  virtual void check() = 0;
  [[nodiscard]] virtual bool over() const = 0;
  [[nodiscard]] virtual bool is_on_fast_path() const = 0;
  /// If a start has left it on the fast path and it is alone: waits on that path. True: it is over.
  virtual bool wait_on_fast_path() = 0;
  /// Whether waiting for it has to give the processor away: there are more ranks than processors, and no message is
  /// pending over an MPI that does it already.
  [[nodiscard]] virtual bool yields() const = 0;
  /// Whether a look at it moves MPI forward too.
  [[nodiscard]] virtual bool polls_mpi() const = 0;
  /// Whether a thread of the library's that reaches so far moves it: no blocking call waits for it.
  [[nodiscard]] virtual bool moves_in_background(Reach reach) const = 0;
  /// Whether nobody waits for it but a stream, and it runs.
  [[nodiscard]] virtual bool runs_for_stream() const = 0;

 protected:
  /// Whether the program does nothing but wait for it.
  [[nodiscard]] const bool& is_waited_for() const { return is_waited_for_; }

 private:
  friend class Progress;
  Task* previous_ = nullptr;  ///< In the list of those under way.
  Task* next_ = nullptr;
  bool is_waited_for_ = false;
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

  /// Is called as operations begin that nobody may wait for; nullptr: nothing is. From the first thread on, entries
  /// keep others out. The caller holds no Entry, unless there were many threads before.
  void serve(std::function<void()> wake) {
    wake_ = std::move(wake);
    many_threads_ |= wake_ != nullptr;
  }
  void wake_thread() const {
    if (wake_ != nullptr) wake_();
  }
  [[nodiscard]] bool has_many_threads() const { return many_threads_; }
  [[nodiscard]] bool has_operations() const { return first_ != nullptr; }
  [[nodiscard]] bool has_one_operation() const { return first_ == last_; }
  /// Whether another thread waits for an Entry.
  [[nodiscard]] bool has_waiting_threads() const { return waiting_threads_.load(std::memory_order_relaxed) > 0; }

  void add(Task& task);
  void remove(Task& task);
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
  /// Returns once `task` is over, moving all the others too.
  void wait(Task& task, Entry& entry);
  /// Returns once `task` is over, or at `end`, on records::coarse_now(). Whether it is over.
  bool wait_until(Task& task, Entry& entry, std::int64_t end);
  /// Returns once a request of the MPI's own is over, moving all operations. Now and then calls `look()`. Throws
  /// MpiError.
  void wait(MPI_Request& request, Entry& entry, const std::function<void()>& look);
  /// Moves all operations, one look at a time: `looks` were made before.
  void look_at_all(int looks);
  /// Does it unless a thread has an Entry: at the end of a program, whose threads may never leave theirs.
  template <class Use>
  void if_nobody_is_inside(const Use& use) {
    const std::unique_lock lock{mutex_, std::try_to_lock};
    if (lock.owns_lock()) use();
  }
  /// Call after a test of an operation: a program that only tests moves MPI forward too.
  void tested(Task& task);

 private:
  std::unique_lock<std::mutex> locked();
  /// One look at an operation that is waited for: true if it is over.
  bool look_at(Task& task, int looks);
  void check_all();
  template <class Use>
  void for_each(const Use& use);

  Task* first_ = nullptr;
  Task* last_ = nullptr;
  std::vector<Matching*> matchings_{};
  unsigned tests_ = 0;
  std::function<void()> wake_{};
  bool many_threads_, main_thread_only_;
  std::thread::id main_thread_;
  std::mutex mutex_;
  std::atomic<int> waiting_threads_{0};
};

}  // namespace tutti::detail
