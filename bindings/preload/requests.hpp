#pragma once
// Nonblocking and persistent calls that Tutti serves, behind requests of MPI.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "bindings/preload/job.hpp"
#include "bindings/preload/report.hpp"
#include "bindings/preload/target.hpp"
#include "tutti/request.hpp"

namespace tutti::interpose {

/// A call under way, or one that can be started. Its handle is a request that MPI knows, so that the program may keep
/// it among others: a generalized request of a nonblocking call, and of a persistent one a persistent message to
/// nobody.
class Pending {
 public:
  Pending(MPI_Comm comm, std::shared_ptr<Target> target) : comm_(comm), target_(std::move(target)) {}

  /// Filled before start_once() or prepare().
  [[nodiscard]] Job& job() { return job_; }
  /// A nonblocking call begins.
  void start_once();
  /// A persistent call may be started from now on. Collective. False, on all ranks: all contexts are taken.
  [[nodiscard]] bool prepare();
  [[nodiscard]] MPI_Request handle() const { return handle_; }
  [[nodiscard]] bool is_persistent() const { return plan_.has_value(); }
  /// Started, and nobody was told that it is over.
  [[nodiscard]] bool is_active() const { return is_active_; }

  /// Tutti has done its part; the program was not told yet.
  [[nodiscard]] bool is_over() const { return is_over_; }

  /// Starts a persistent call. MPI's result: an error if it is active.
  int start();
  /// Moves it, without waiting; it may be over then. Nothing happens if it is not active.
  void look();
  void wait();
  /// It is over: the program is told. MPI frees `handle`, or makes it inactive. The call's result.
  int complete(MPI_Request& handle, MPI_Status* status);
  /// An error of the program: `function` is not allowed now.
  int refuse(const char* function);

 private:
  template <class Move>
  void move(const Move& move) noexcept;

  MPI_Comm comm_;
  std::shared_ptr<Target> target_;
  Job job_{};
  std::optional<Request> request_;
  /// For a persistent call: ranks may start theirs in any order, so each has a communicator of its own.
  std::optional<Communicator> own_;
  std::optional<NameInReports> name_;
  std::optional<Plan> plan_;
  MPI_Request handle_ = MPI_REQUEST_NULL;
  bool is_active_ = false, is_over_ = false;
  int result_ = MPI_SUCCESS;
};

/// Whether the program's functions that complete requests are those of this library. A layer that stands before it may
/// wait in MPI, which never completes requests of calls that Tutti serves.
[[nodiscard]] bool completes_requests();
/// Whether there are any: else all requests are MPI's alone.
[[nodiscard]] bool has_pending();
/// The call behind a handle; nullptr: it is MPI's own.
[[nodiscard]] Pending* find_pending(MPI_Request handle);
/// Keeps a call until release_pending(); returns its handle.
[[nodiscard]] MPI_Request keep_pending(std::unique_ptr<Pending> pending);
/// Takes the call of a handle that MPI is about to free, and may use again.
std::unique_ptr<Pending> release_pending(MPI_Request handle);

/// Whether Tutti may serve such a call though the program may not wait for it at once.
[[nodiscard]] bool is_movable(const Target& target, const Job& job);

/// Makes sure that a thread moves the calls of such a communicator.
void require_progress(const Target& target);

}  // namespace tutti::interpose
