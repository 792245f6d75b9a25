#pragma once
// How a call of the program is served, or passed on.

#include <mpi.h>

#include "interpose/errors.hpp"
#include "interpose/job.hpp"
#include "interpose/process.hpp"
#include "interpose/report.hpp"

namespace tutti::interpose {

/// Whether Tutti serves the call that `describe(target, job)` describes, and why not.
template <class Describe>
Why decide(Function function, Target& target, Job& job, const Describe& describe) {
  if (!target.is_served()) return Why::target;
  if (!target.serves(function)) return Why::table;
  const Why why = describe(target, job);
  if (why != Why::served) return why;
  return target.serves(function, job.bytes) ? Why::served : Why::table;
}

/// A blocking call: `pass()` hands it to MPI.
template <class Describe, class Pass>
int blocking(Function function, MPI_Comm comm, const Describe& describe, const Pass& pass) {
  Why why = Why::target;
  try {
    Target* const target = find_target(comm);
    if (target == nullptr) return pass();
    Note note{Form::blocking, function, *target};
    Job job;
    why = decide(function, *target, job, describe);
    note.passed(why);
    if (why == Why::served) {
      job.load();
      detail::run(job.call, target->communicator(), {});
      job.store();
      note.served(job.bytes);
      return MPI_SUCCESS;
    }
  } catch (...) {
    return raise_current(comm);
  }
  return pass();
}

}  // namespace tutti::interpose
