#include "lib/core/run/progress.hpp"

#include <mpi.h>
#include <sched.h>

#include <limits>

#include "lib/core/run/matching.hpp"
#include "lib/core/run/patience.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/network.hpp"
#include "lib/device/driver/scoped_device.hpp"
#include "lib/device/ipc/ipc_port.hpp"
#include "lib/watch/records/recorder.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// While the program waits.
struct WaitedFor {
  explicit WaitedFor(bool& is) : is_waited_for(is) { is = true; }
  WaitedFor(const WaitedFor&) = delete;
  WaitedFor& operator=(const WaitedFor&) = delete;
  ~WaitedFor() { is_waited_for = false; }
  bool& is_waited_for;
};

}  // namespace

void move_transports(bool polls_mpi) {
  if (!polls_mpi) {
    // Any look at MPI moves all of its messages; this one asks for nothing and takes nothing.
    const cuda::ScopedDevice scope{cuda::FarData::device()};
    int found = 0;
    mpi::api.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  }
  for (const mpi::NetworkDriver* driver : mpi::network_drivers())
    driver->progress();
  ipc::collect();
}

Progress::Progress(int thread_level)
    : many_threads_(thread_level == MPI_THREAD_MULTIPLE),
      main_thread_only_(thread_level == MPI_THREAD_SINGLE || thread_level == MPI_THREAD_FUNNELED) {
  int is_main = 0;
  mpi::api.Is_thread_main(&is_main);
  if (main_thread_only_ && is_main == 0)
    throw StateError(
        "tutti: MPI was initialised for its main thread only (below MPI_THREAD_SERIALIZED), and this is another");
  main_thread_ = std::this_thread::get_id();
}

void Progress::Entry::throw_wrong_thread() {
  throw StateError(
      "tutti: called from a second thread, but MPI was initialised for its main thread only; "
      "use MPI_Init_thread with MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE");
}

std::unique_lock<std::mutex> Progress::locked() {
  std::unique_lock lock{mutex_, std::try_to_lock};
  if (lock.owns_lock()) return lock;
  ++waiting_threads_;
  lock.lock();
  --waiting_threads_;
  return lock;
}

void Progress::Entry::pause() {
  if (!lock_.owns_lock()) return;
  lock_.unlock();
  sched_yield();  // a mutex freed and taken at once would starve the others
  lock_ = progress_.locked();
}

void Progress::add(Task& task) {
  task.previous_ = last_;
  task.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &task;
  last_ = &task;
}

void Progress::remove(Task& task) {
  (task.previous_ == nullptr ? first_ : task.previous_->next_) = task.next_;
  (task.next_ == nullptr ? last_ : task.next_->previous_) = task.previous_;
}

void Progress::end_fast_path() {
  if (first_ != nullptr && first_->is_on_fast_path()) first_->advance();  // it began alone
}

/// `use` may end a task, which then leaves the list.
template <class Use>
void Progress::for_each(const Use& use) {
  for (Task* task = first_; task != nullptr;) {
    Task* const next = task->next_;
    use(*task);
    task = next;
  }
}

void Progress::advance_all() {
  for_each([](Task& task) { task.advance(); });
  for (Matching* const matching : matchings_)
    matching->advance();
}

void Progress::advance_in_background(Reach reach) {
  for_each([reach](Task& task) {
    if (!task.moves_in_background(reach)) return;
    task.advance();
    if (task.runs_for_stream()) task.check();
  });
  if (reach != Reach::all) return;
  for (Matching* const matching : matchings_)
    matching->advance();
}

void Progress::wait(Task& task, Entry& entry) {
  static_cast<void>(wait_until(task, entry, std::numeric_limits<std::int64_t>::max()));
}

bool Progress::wait_until(Task& task, Entry& entry, std::int64_t end) {
  if (task.wait_on_fast_path()) return true;
  const bool has_end = end != std::numeric_limits<std::int64_t>::max();
  const WaitedFor waited_for{task.is_waited_for_};
  for (int looks = 0; !look_at(task, looks); ++looks) {
    if (has_end && records::coarse_now() >= end) return false;
    entry.pause();
  }
  return true;
}

bool Progress::look_at(Task& task, int looks) {
  task.advance();
  if (task.over()) return true;
  if (!has_one_operation()) advance_all();
  const bool yields = task.yields();
  give_way(yields);
  if (is_time_for_others(looks, yields)) {
    move_transports(task.polls_mpi());
    task.check();
  }
  return task.over();
}

void Progress::wait(MPI_Request& request, Entry& entry, const std::function<void()>& look) {
  for (int looks = 0, is_over = 0;; ++looks) {
    mpi::check(mpi::api.Test(&request, &is_over, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_over != 0) return;
    advance_all();
    sched_yield();
    if (is_time_for_others(looks, true)) {
      move_transports(true);
      check_all();
      look();
    }
    entry.pause();
  }
}

void Progress::look_at_all(int looks) {
  advance_all();
  bool yields = false;
  for_each([&yields](const Task& task) { yields |= task.yields(); });
  give_way(yields);
  if (!is_time_for_others(looks, yields)) return;
  move_transports(false);
  check_all();
}

void Progress::check_all() {
  for_each([](Task& task) { task.check(); });
}

void Progress::tested(Task& task) {
  constexpr unsigned patience = 16;
  if (++tests_ % patience != 0) return;
  move_transports(false);
  task.check();
}

}  // namespace tutti::detail
