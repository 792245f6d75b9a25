#include "bindings/preload/requests.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>
#include <system_error>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "bindings/preload/errors.hpp"
#include "bindings/preload/handles.hpp"
#include "lib/core/communicator/runtime.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

struct Registry {
  std::mutex mutex;
  std::unordered_map<HandleKey, std::unique_ptr<Pending>> all;
  std::atomic<int> count = 0;
};
/// Never destroyed: programs may leave requests behind.
Registry& registry() {
  static auto* const registry = new Registry;
  return *registry;
}

// What MPI asks of a generalized request. It has no buffer of its own, so the status is empty.

int tell_status(void* /*state*/, MPI_Status* status) {
  api.Status_set_elements(status, MPI_BYTE, 0);
  api.Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
int free_nothing(void* /*state*/) { return MPI_SUCCESS; }
int cancel_nothing(void* /*state*/, int /*is_complete*/) { return MPI_SUCCESS; }

}  // namespace

void Pending::start_once() {
  job_.in.keep_types();
  job_.out.keep_types();
  job_.load();
  check(api.Grequest_start(tell_status, free_nothing, cancel_nothing, nullptr, &handle_), "MPI_Grequest_start");
  try {
    request_.emplace(detail::start(job_.call, target_->communicator(), {}));
  } catch (...) {
    api.Grequest_complete(handle_);
    api.Wait(&handle_, MPI_STATUS_IGNORE);
    throw;
  }
  is_active_ = true;
}

bool Pending::prepare() {
  try {
    own_.emplace(comm_);
    name_.emplace(*own_, comm_);
  } catch (const ArgumentError&) {
    return false;
  }
  job_.in.keep_types();
  job_.out.keep_types();
  job_.load();
  plan_.emplace(detail::prepare(job_.call, *own_, {}));
  check(api.Send_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &handle_), "MPI_Send_init");
  return true;
}

int Pending::start() {
  if (!plan_ || is_active_) return refuse("MPI_Start");
  try {
    job_.load();
    plan_->start();
    is_active_ = true;
    is_over_ = false;
    return MPI_SUCCESS;
  } catch (...) {
    return target_->raise(comm_, code_of_current());
  }
}

/// `move()`: whether it is over.
template <class Move>
void Pending::move(const Move& move) noexcept {
  if (is_over_ || !is_active_) return;
  try {
    if (!move()) return;
    job_.store();
  } catch (...) {
    result_ = code_of_current();
  }
  is_over_ = true;
  if (!plan_) api.Grequest_complete(handle_);
}

void Pending::look() {
  move([this] { return plan_ ? plan_->test() : request_->test(); });
}

void Pending::wait() {
  move([this] {
    plan_ ? plan_->wait() : request_->wait();
    return true;
  });
}

/// A persistent message to nobody is complete as soon as it is started.
int Pending::complete(MPI_Request& handle, MPI_Status* status) {
  if (plan_) api.Start(&handle);
  api.Wait(&handle, status);
  is_active_ = is_over_ = false;
  const int result = std::exchange(result_, MPI_SUCCESS);
  return result == MPI_SUCCESS ? result : target_->raise(comm_, result);
}

int Pending::refuse(const char* function) {
  const char* const state = is_active_ ? "under way" : is_persistent() ? "not under way" : "not persistent";
  return target_->raise(
      comm_, code_of(MPI_ERR_REQUEST, std::string{function} + ": the request of a collective that is " + state));
}

bool completes_requests() {
  constexpr std::array names{"MPI_Wait",  "MPI_Waitall",  "MPI_Waitany",      "MPI_Waitsome",
                             "MPI_Test",  "MPI_Testall",  "MPI_Testany",      "MPI_Testsome",
                             "MPI_Start", "MPI_Startall", "MPI_Request_free", "MPI_Request_get_status",
                             "MPI_Cancel"};
  const auto home = [](const void* address) {
    Dl_info info{};
    return ::dladdr(address, &info) == 0 ? nullptr : info.dli_fbase;
  };
  const void* const own = home(reinterpret_cast<const void*>(&free_nothing));
  return std::ranges::all_of(names, [&](const char* name) { return home(::dlsym(RTLD_DEFAULT, name)) == own; });
}

bool has_pending() { return registry().count.load(std::memory_order_relaxed) > 0; }

Pending* find_pending(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL || !has_pending()) return nullptr;
  Registry& own = registry();
  const std::lock_guard lock{own.mutex};
  const auto found = own.all.find(key_of(handle));
  return found == own.all.end() ? nullptr : found->second.get();
}

MPI_Request keep_pending(std::unique_ptr<Pending> pending) {
  Registry& own = registry();
  MPI_Request handle = pending->handle();
  const std::lock_guard lock{own.mutex};
  own.all[key_of(handle)] = std::move(pending);
  ++own.count;
  return handle;
}

std::unique_ptr<Pending> release_pending(MPI_Request handle) {
  Registry& own = registry();
  const std::lock_guard lock{own.mutex};
  auto found = own.all.extract(key_of(handle));
  --own.count;
  return std::move(found.mapped());
}

/// A user's function is run by the threads that the program knows of, and MPI by those that MPI allows.
bool is_movable(const Target& target, const Job& job) {
  switch (target.movable()) {
    case Movable::all:
      return job.combined_by != CombinedBy::user;
    case Movable::without_mpi:
      return job.combined_by == CombinedBy::tutti;
    default:
      return false;
  }
}

namespace {

/// Where threads may come at once, only one of them may start it.
void start_progress(const Target& target) {
  detail::Runtime& runtime = detail::Runtime::get();
  if (target.movable() != Movable::all) return runtime.start_progress_thread(detail::Reach::shared_memory);
  const detail::Progress::Entry entry{runtime.progress()};
  runtime.start_progress_thread(detail::Reach::all);
}

}  // namespace

/// This rank alone knows that it cannot have a thread, and takes part all the same: waits and tests move the
/// call.
void require_progress(const Target& target) {
  try {
    start_progress(target);
  } catch (const std::system_error& error) {
    static std::once_flag said;
    std::call_once(said, [&error] {
      std::fprintf(stderr, "tutti: nonblocking calls move only while the program waits: no thread: %s\n", error.what());
    });
  }
}

}  // namespace tutti::interpose
