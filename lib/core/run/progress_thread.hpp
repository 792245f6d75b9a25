#pragma once
// Moves operations forward while the program does something else.

#include <condition_variable>
#include <mutex>
#include <thread>

#include "lib/core/run/progress.hpp"

namespace tutti::detail {

/// A thread that sleeps while no operation is under way, and looks at those that are every few microseconds else. With
/// it a rank that blocks in MPI, or computes, still does its part in the operations that it has started.
class ProgressThread {
 public:
  ProgressThread(Progress& progress, Reach reach);
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  /// Ends the thread. The caller holds no Entry.
  ~ProgressThread();

  /// There is something to do.
  void wake();

 private:
  void run();
  /// False: the thread shall end.
  bool sleep_until_woken();

  Progress& progress_;
  Reach reach_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool woken_ = false, ends_ = false;
  std::thread thread_;  ///< The last member: it uses the others.
};

/// TUTTI_PROGRESS_THREAD: 0 (the default) or 1. Throws ArgumentError for anything else.
[[nodiscard]] bool wants_progress_thread();

}  // namespace tutti::detail
