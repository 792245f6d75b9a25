#pragma once
// How a call of the program is served, or passed on.

#include <mpi.h>

#include "bindings/preload/errors.hpp"
#include "bindings/preload/job.hpp"
#include "bindings/preload/process.hpp"
#include "bindings/preload/report.hpp"
#include "bindings/preload/requests.hpp"

namespace tutti::interpose {

/// Whether Tutti serves the call that `describe(target, job)` describes, and why not. `make_known()`: where the
/// communicator is not known yet.
template <class Describe, class MakeKnown>
Why decide(Function function, Target& target, Job& job, const Describe& describe, const MakeKnown& make_known) {
  if (target.is_known() && (!target.is_served() || !target.serves(function)))
    return target.is_served() ? Why::table : Why::target;
  const Why why = describe(target, job);
  if (why == Why::arguments) return why;
  if (!target.is_known()) make_known();
  if (!target.is_known() || !target.is_served()) return Why::target;
  if (!target.serves(function)) return Why::table;
  if (why != Why::served) return why;
  return target.serves(function, job.bytes) ? Why::served : Why::table;
}

/// A blocking call: `pass()` hands it to MPI.
template <class Describe, class Pass>
int blocking(Function function, MPI_Comm comm, const Describe& describe, const Pass& pass) {
  Why why = Why::target;
  try {
    Target* const target = find_target(comm);
    if (!is_serving()) return pass();
    Note note{Form::blocking, function};
    note.passed(Why::target);
    if (target == nullptr || !(target->is_known() || may_make_known(function))) return pass();
    Job job;
    why = decide(function, *target, job, describe, [&] { make_known(*target, comm); });
    note.passed(why);
    if (why == Why::served && is_measuring() && target->is_turn_of_mpi(function, job.bytes)) {
      note.measured();
      return pass();
    }
    if (why == Why::served) {
      job.load();
      detail::run(job.call, target->communicator(), {});
      job.store();
      note.served(job);
      return MPI_SUCCESS;
    }
  } catch (...) {
    return raise_current(comm);
  }
  return pass();
}

/// A nonblocking or persistent call, which gets a request: `begin(pending)` starts or prepares it, or finds that its
/// communicator has no room for it.
template <class Describe, class Begin, class Pass>
int requested(Form form, Function function, MPI_Comm comm, MPI_Request* request, const Describe& describe,
              const Begin& begin, const Pass& pass) {
  try {
    Target* const target = find_target(comm);
    if (!is_serving()) return pass();
    Note note{form, function};
    note.passed(Why::target);
    // Ranks that begin a nonblocking call must not wait for other ranks.
    const bool may_wait = form != Form::nonblocking && may_make_known(function);
    if (target == nullptr || !(target->is_known() || may_wait)) return pass();
    auto pending = std::make_unique<Pending>(comm, keep_target(*target));
    Why why = request == nullptr
                  ? Why::arguments
                  : decide(function, *target, pending->job(), describe, [&] { make_known(*target, comm); });
    if (why == Why::served && !is_movable(*target, pending->job())) why = Why::progress;
    if (why == Why::served) {
      require_progress(*target);
      if (!begin(*pending)) why = Why::target;
    }
    note.passed(why);
    if (why == Why::served) {
      note.served(pending->job());
      *request = keep_pending(std::move(pending));
      return MPI_SUCCESS;
    }
  } catch (...) {
    return raise_current(comm);
  }
  return pass();
}

template <class Describe, class Pass>
int nonblocking(Function function, MPI_Comm comm, MPI_Request* request, const Describe& describe, const Pass& pass) {
  return requested(
      Form::nonblocking, function, comm, request, describe,
      [](Pending& call) {
        call.start_once();
        return true;
      },
      pass);
}

template <class Describe, class Pass>
int persistent(Function function, MPI_Comm comm, MPI_Request* request, const Describe& describe, const Pass& pass) {
  return requested(
      Form::persistent, function, comm, request, describe, [](Pending& call) { return call.prepare(); }, pass);
}

}  // namespace tutti::interpose
