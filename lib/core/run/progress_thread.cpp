#include "lib/core/run/progress_thread.hpp"

#include <chrono>

#include "lib/core/communicator/variables.hpp"
#include "lib/core/run/progress.hpp"
#include "lib/device/stream/gate.hpp"

namespace tutti::detail {
namespace {

/// The pause between two polls: a fraction of the time that any sleep takes, and short against the operations that the
/// thread is there for.
constexpr std::chrono::microseconds pause{5};

}  // namespace

ProgressThread::ProgressThread(Progress& progress, Reach reach)
    : progress_(progress), reach_(reach), thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard lock{mutex_};
    ends_ = true;
  }
  condition_.notify_one();
  thread_.join();
}

void ProgressThread::wake() {
  {
    const std::lock_guard lock{mutex_};
    woken_ = true;
  }
  condition_.notify_one();
}

bool ProgressThread::sleep_until_woken() {
  std::unique_lock lock{mutex_};
  condition_.wait(lock, [this] { return woken_ || ends_; });
  woken_ = false;
  return !ends_;
}

void ProgressThread::run() {
  while (sleep_until_woken()) {
    stream::let_captures_be();
    for (bool has_more = true; has_more;) {
      {
        const Progress::Entry entry{progress_};
        progress_.advance_in_background(reach_);
        has_more = progress_.has_operations();
      }
      std::this_thread::sleep_for(pause);
    }
  }
}

bool wants_progress_thread() { return number_setting("TUTTI_PROGRESS_THREAD") != 0; }

}  // namespace tutti::detail
