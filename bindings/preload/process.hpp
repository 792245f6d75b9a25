#pragma once
// What the interposer knows of this process, from MPI_Init to MPI_Finalize.

#include <mpi.h>

#include <memory>

#include "bindings/preload/policy.hpp"
#include "bindings/preload/target.hpp"

namespace tutti::interpose {

/// MPI was initialised: finds out what rank 0's user wants, and makes the communicator of the world. Collective. The
/// end comes with MPI_Finalize, whoever calls it: after the program's own callbacks there it reports, and closes all
/// communicators.
void begin() noexcept;

/// What the interposer knows of a communicator. Local. nullptr: the process serves no calls, or this is no
/// communicator. Costs a look into the attributes, or less if it repeats.
[[nodiscard]] Target* find_target(MPI_Comm comm);
/// Whether a blocking or persistent call of the function may make a communicator known, which is collective: only if it
/// is wanted and, unless the user has named what to serve, only if ranks of MPI wait in it for all others, too.
[[nodiscard]] bool may_make_known(Function function);
/// Makes the communicator of such a call known, if it is not yet, or counts the call, as by default the first
/// ones are MPI's. A call whose arguments are wrong must not come here, as other ranks may make none.
void make_known(Target& target, MPI_Comm comm);
/// A target that stays until the last of its requests is over, though its communicator be freed.
[[nodiscard]] std::shared_ptr<Target> keep_target(const Target& target);
/// Writes what was recorded so far of this process's calls, before it is ended: their bits, their traces.
void keep_records() noexcept;
/// Whether some calls are served.
[[nodiscard]] bool is_serving();

}  // namespace tutti::interpose
