#include "lib/runtime/progress.hpp"

#include <mpi.h>
#include <sched.h>

#include "lib/cuda/scoped_device.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/matching.hpp"
#include "lib/runtime/operation.hpp"
#include "lib/runtime/patience.hpp"
#include "lib/runtime/progress_thread.hpp"
#include "lib/transport/ipc/ipc_port.hpp"
#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"
#include "lib/transport/network.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

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

void Progress::add(Operation& operation) {
  operation.previous = last_;
  operation.next = nullptr;
  (last_ == nullptr ? first_ : last_->next) = &operation;
  last_ = &operation;
}

void Progress::wake_thread() {
  if (thread_ != nullptr) thread_->wake();
}

void Progress::remove(Operation& operation) {
  (operation.previous == nullptr ? first_ : operation.previous->next) = operation.next;
  (operation.next == nullptr ? last_ : operation.next->previous) = operation.previous;
}

void Progress::end_fast_path() {
  if (first_ != nullptr && first_->is_on_fast_path()) first_->advance();  // it began alone
}

void Progress::advance_all() {
  for (Operation* operation = first_; operation != nullptr;) {
    Operation* const next = operation->next;  // an operation that ends leaves the list
    operation->advance();
    operation = next;
  }
  advance_matchings();
}

void Progress::advance_matchings() {
  for (Matching* const matching : matchings_)
    matching->advance();
}

void Progress::advance_in_background(Reach reach) {
  for (Operation* operation = first_; operation != nullptr;) {
    Operation* const next = operation->next;
    const bool is_in_reach = reach == Reach::all || operation->communicator().paths().shares_memory();
    if (is_in_reach && operation->kind() != Kind::blocking) operation->advance();
    if (is_in_reach && operation->runs_for_stream()) operation->check();
    operation = next;
  }
  if (reach == Reach::all) advance_matchings();
}

void Progress::wait(Operation& operation, Entry& entry) {
  if (operation.wait_on_fast_path()) return;
  const WaitTrace trace{operation.trace()};
  for (int looks = 0; !look_at(operation, looks); ++looks)
    entry.pause();
}

bool Progress::wait_until(Operation& operation, Entry& entry, std::int64_t end) {
  if (operation.wait_on_fast_path()) return true;
  const WaitTrace trace{operation.trace()};
  for (int looks = 0; !look_at(operation, looks); ++looks) {
    if (records::coarse_now() >= end) return false;
    entry.pause();
  }
  return true;
}

bool Progress::look_at(Operation& operation, int looks) {
  operation.advance();
  if (operation.over()) return true;
  if (!has_one_operation()) advance_all();
  const bool yields = operation.yields();
  give_way(yields);
  if (is_time_for_others(looks, yields)) {
    move_transports(operation.polls_mpi());
    operation.check();
  }
  return operation.over();
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
  for (const Operation* operation = first_; operation != nullptr; operation = operation->next)
    yields |= operation->yields();
  give_way(yields);
  if (!is_time_for_others(looks, yields)) return;
  move_transports(false);
  check_all();
}

void Progress::check_all() {
  for (Operation* operation = first_; operation != nullptr;) {
    Operation* const next = operation->next;
    operation->check();
    operation = next;
  }
}

void Progress::end_all_of(const CommunicatorState& communicator) {
  for (Operation* operation = first_; operation != nullptr;) {
    Operation* const next = operation->next;
    if (&operation->communicator() == &communicator) operation->advance();
    operation = next;
  }
  advance_matchings();
}

void Progress::tested(Operation& operation) {
  constexpr unsigned patience = 16;
  if (++tests_ % patience != 0) return;
  move_transports(false);
  operation.check();
}

}  // namespace tutti::detail
